import { backendContract } from '../../../src/testing/contract/backend-contract.js';
import type { BackendSubject } from '../../../src/testing/contract/backend-subject.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { iptablesBackend } from '../../support/backends.js';
import { HOST } from '../../support/iptables/services.js';
import { iptablesSnapshot } from '../../testing/contract/snapshots.js';
import type { Variant } from '../../simulation/kernel/programs/tables/table-set.js';
import { Place } from './place.js';

const STRANGERS =
  '*nat\n:MINE - [0:0]\n-A PREROUTING -j MINE\n-A MINE -j RETURN\nCOMMIT\n*filter\nCOMMIT\n*mangle\nCOMMIT\n';

function subject(family: IpFamily, variant: Variant): BackendSubject<Place> {
  const base = `${family === 'IPv4' ? 'iptables' : 'ip6tables'}-${variant}`;
  return {
    family,
    makePlace() {
      const place = new Place(variant);
      place.programs.run([`${base}-restore`, '--noflush'], STRANGERS);
      return place;
    },
    open: (place) =>
      iptablesBackend(
        family,
        place.tool(),
        place.watch(family),
        () => Promise.resolve(HOST),
        new MemoryLogger(),
      ),
    snapshot: ({ programs }) => iptablesSnapshot(programs.tables(family, variant)),
    damage: ({ programs }) => void programs.run([base, '-t', 'nat', '-F', 'KUBE-SERVICES']),
    reject({ programs: { faults } }, key) {
      faults.refusals.length = 0;
      const [namespace, name, , port] = key?.split('/') ?? [];
      if (key !== undefined) faults.refuseRules(`${namespace}/${name}:${port}`);
    },
    writes: ({ children }) => children.filter(({ command }) => command[0]?.endsWith('-restore')).length,
    breakDown({ programs: { faults } }, error) {
      faults.clear();
      if (error) faults.fail({ exitCode: 4, stderr: 'iptables: broken\n', when: 'before', times: Infinity });
    },
  };
}

describe.each<[Variant, IpFamily]>([
  ['legacy', 'IPv4'],
  ['nft', 'IPv6'],
])('the backend iptables over simulated iptables-%s, for %s', (variant, family) => {
  for (const { name, run } of backendContract(subject(family, variant))) it(name, run);
});
