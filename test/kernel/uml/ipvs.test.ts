import { builtProxy } from '../built-proxy.js';
import { declareGuestTests } from './guest-tests.js';

// Built here: what a guest builds is lost with it.
await builtProxy();
await declareGuestTests({ source: new URL('./inside/connections.ts', import.meta.url) });
