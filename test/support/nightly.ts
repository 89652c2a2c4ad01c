/**
 * Whether this is a run of `npm run test:nightly`, which has what `npm test` takes samples of: all recorded scenarios on every real
 * kernel and with every variant of iptables, images for both processors. What a sample leaves out is shown by hermetic tests.
 */
export const nightly = process.env.NIGHTLY === '1';
