/** Bytes of the largest response that is read. A list of 100,000 Services has half of that. */
export const LARGEST_RESPONSE = 64 * 1024 * 1024;
