import { nightly } from '../../../support/nightly.js';

/**
 * One for each thing that IPVS, sets, addresses and rules have to do together and that `one-node` does not show. That the others are
 * compiled to what kube-proxy has, and that packets fare as they should there, is shown without a guest (`test/domain/ipvs`).
 */
const SAMPLE = ['ipv6-only', 'loadbalancer-source-ranges', 'nodeport-local-policy', 'terminating'];

/** Whether the recorded scenario is one for a guest: all are, at night. */
export function isSampled(name: string): boolean {
  return nightly || SAMPLE.includes(name);
}
