import { main } from './runner/main.ts';

process.exit(await main(process.argv.slice(2)));
