import { declareGuestTests } from './guest-tests.js';

await declareGuestTests(new URL('./inside/drivers.ts', import.meta.url));
