/**
 * Whether this is a run of `npm run test:nightly`, which has what `npm test` takes samples of: all recorded scenarios on every real
 * kernel and with every variant of iptables, images for both processors. What a sample leaves out is shown by hermetic tests.
 */
export const nightly = process.env.NIGHTLY === '1';

/**
 * Modes, variants or families in which the same is shown, by the same program: `npm test` has the first of them. Where they differ is
 * in the recorded scenarios and in the contract, which have all.
 */
export const sampleOf = <T>(all: readonly T[]): readonly T[] => (nightly ? all : all.slice(0, 1));
