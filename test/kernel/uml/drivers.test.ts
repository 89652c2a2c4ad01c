import { declareGuestTests } from './guest-tests.js';

await declareGuestTests({ source: new URL('./inside/drivers.ts', import.meta.url) });
