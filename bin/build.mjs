// `npm run build`: packages, compiled sources and workflow bundle, as far as they are stale.
import './node-version.mjs';
import { bootstrap } from './bootstrap.mjs';

bootstrap();
