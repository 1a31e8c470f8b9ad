#!/usr/bin/env node
// The command `holdfast`. From a checkout it first makes that ready.
import './node-version.mjs';
import { bootstrap, isCheckout } from './bootstrap.mjs';
import { enterCli } from './enter-cli.mjs';

if (isCheckout()) bootstrap();
await enterCli(process.argv.slice(2));
