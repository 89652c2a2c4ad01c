import { jest } from '@jest/globals';

/** What is measured, or counted within milliseconds, is measured once more when the machine disturbed it; both outcomes are shown. */
jest.retryTimes(1, { logErrorsBeforeRetry: true });
