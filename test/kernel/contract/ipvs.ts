import type { BackendSubject } from '../../../src/testing/contract/backend-subject.js';
import { HOST } from '../../support/iptables/services.js';
import { parseSave } from '../../support/iptables/parse-save.js';
import { OwnNamespace } from '../../support/testbed/own-namespace.js';
import { iptablesSnapshot } from '../../testing/contract/snapshots.js';
import { openIpvs } from '../uml/inside/open-ipvs.js';
import { comparable, listNode } from '../uml/inside/recorded-kernel.js';
import { here, NOBODY, tool } from '../uml/inside/tool.js';

const family = 'IPv4';
/** With addresses of the loopback interface the kernel begins to know which addresses are local; real servers must not be broadcasts. */
const BEGINNING = `
  ip link set lo up
  iptables-legacy -w 5 -t nat -N MINE
  iptables-legacy -w 5 -t nat -A PREROUTING -j MINE
  ipset create OTHERS hash:ip
`;

/** IPVS mode on the kernel: each place is a network namespace that this process is in. */
export const ipvs: BackendSubject<OwnNamespace> = {
  family,
  async makePlace() {
    const place = OwnNamespace.enter();
    await here.run(['sh', '-e'], BEGINNING);
    return place;
  },
  removePlace: (place) => place.leave(),
  open: () => openIpvs(family, HOST),
  async snapshot() {
    const listings = await listNode(here);
    const rules = iptablesSnapshot(parseSave(listings.rules[family], family));
    return { ...comparable(listings), tables: rules };
  },
  async damage() {
    await tool('ip', 'address', 'flush', 'dev', 'kube-ipvs0');
    await tool('iptables-legacy', '-w', '5', '-t', 'nat', '-F', 'KUBE-SERVICES');
  },
  breakDown: (_, error) => process.seteuid!(error ? NOBODY : 0),
};
