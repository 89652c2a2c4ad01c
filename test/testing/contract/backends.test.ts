import { backendContract } from '../../../src/testing/contract/backend-contract.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { BackendSubject, ContractCase } from '../../../src/testing/contract/backend-subject.js';
import { changed, Stage, writesNothing } from '../../../src/testing/contract/stage.js';
import {
  iptablesSubject,
  ipvsSubject,
  nftablesSubject,
  recordingSubject,
  userspaceSubject,
} from './subjects.js';

/** One family each: what differs between families is in `incremental.test.ts`, and in the contract on simulated kernels. */
const contracts: Readonly<Record<string, readonly ContractCase[]>> = {
  'recording for IPv4': backendContract(recordingSubject('IPv4')),
  'nftables for IPv6': backendContract(nftablesSubject('IPv6')),
  'iptables for IPv4': backendContract(iptablesSubject('IPv4')),
  'ipvs for IPv6': backendContract(ipvsSubject('IPv6')),
  'userspace for IPv4': backendContract(userspaceSubject('IPv4')),
};

describe.each(Object.entries(contracts))('the backend %s', (_, cases) => {
  for (const { name: promise, run } of cases) it(promise, run);
});

/** The same, in other pods with the same addresses. */
function inOtherPods(entry: ForwardingEntry): ForwardingEntry {
  const copy = structuredClone(entry);
  for (const endpoint of copy.endpoints.reachable)
    Object.assign(endpoint, { pod: 'cart-7f9', nodeName: 'n2', zone: 'b' });
  return copy;
}

const otherPodsWriteNothing = <Place>(subject: BackendSubject<Place>): Promise<void> =>
  Stage.run(subject, async (stage) => {
    const backend = await stage.started();
    writesNothing(await backend.apply(changed(...stage.all.map(inOtherPods)), stage.node), 'for other pods');
  });

const checked: Readonly<Record<string, () => Promise<void>>> = {
  nftables: () => otherPodsWriteNothing(nftablesSubject('IPv4')),
  iptables: () => otherPodsWriteNothing(iptablesSubject('IPv4')),
  ipvs: () => otherPodsWriteNothing(ipvsSubject('IPv4')),
  userspace: () => otherPodsWriteNothing(userspaceSubject('IPv4')),
};

it.each(Object.keys(checked))(
  'no rule of %s depends on the names of pods, nodes and zones',
  async (backend) => {
    await checked[backend]!();
  },
);
