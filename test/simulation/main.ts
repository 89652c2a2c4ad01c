import * as process from 'node:process';
import { simulate } from './simulate.js';

process.exit(await simulate(process.argv.slice(2)));
