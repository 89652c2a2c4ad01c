import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { backendContract } from '../../../src/testing/contract/backend-contract.js';
import type { BackendSubject } from '../../../src/testing/contract/backend-subject.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { nftablesBackend } from '../../support/backends.js';
import { addressBytes } from '../../simulation/kernel/netlink/addresses.js';
import { E } from '../../simulation/kernel/netlink/numbers.js';
import { ForeignBatch } from '../../simulation/kernel/nf-tables/foreign-batch.js';
import { FAMILY } from '../../simulation/kernel/nf-tables/numbers.js';
import { rulesInUse } from './rules-in-use.js';
import { TransportUnderTest } from './transport-under-test.js';

const OTHER_PROGRAM = 7;

function subject(family: IpFamily, release: string): BackendSubject<TransportUnderTest> {
  const [number, name] = family === 'IPv4' ? ([FAMILY.IP, 'ip'] as const) : ([FAMILY.IP6, 'ip6'] as const);
  return {
    family,
    makePlace: () => new TransportUnderTest({ release }),
    open(place) {
      const transport = place.open();
      return nftablesBackend(family, transport, new GenerationWatch(transport), new MemoryLogger());
    },
    snapshot({ kernel }) {
      const table = kernel.view(number, 'kube-proxy');
      return table && rulesInUse(table);
    },
    damage: ({ kernel }) =>
      void kernel.transact(OTHER_PROGRAM, new ForeignBatch(name, 'kube-proxy').flush('services').end()),
    reject({ kernel }, key) {
      kernel.faults.clear();
      if (key === undefined) return;
      // The addresses that the service has in the contract.
      for (const address of family === 'IPv4' ? ['10.96.77.1', '10.96.77.51'] : ['fd00:96::1', 'fd00:96::51'])
        kernel.refuseNext({ errno: E.EINVAL, count: Infinity, containing: addressBytes(address) });
    },
    writes: ({ kernel }) => kernel.batches,
    breakDown(place, error) {
      place.brokenBy = error === undefined ? 0 : E.EPERM;
    },
  };
}

describe.each<[string, IpFamily]>([
  ['5.15', 'IPv4'],
  ['6.18', 'IPv6'],
])('the backend nftables on the simulated kernel %s, for %s', (release, family) => {
  for (const { name, run } of backendContract(subject(family, release))) it(name, run);
});
