/** Runs before each test file of the planted copy. A property that fails need not be told by the simplest example. */
import { jest } from '@jest/globals';
import fc from 'fast-check';

fc.configureGlobal({ endOnFailure: true });
// Bare Node gives it to hermetic tests.
globalThis.jest = jest;
