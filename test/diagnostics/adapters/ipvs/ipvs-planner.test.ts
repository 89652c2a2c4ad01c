import { IpvsTracer } from '../../../../src/diagnostics/adapters/rules/ipvs-rules.js';
import { nodeNetwork } from '../../../adapters/ipvs/memory-node.js';
import { entryOf } from '../../../adapters/ipvs/services.js';

const unread = (): never => {
  throw new Error('the kernel is not read');
};

describe('the plan of IPVS mode', () => {
  it('is what the tools would be given, each under its name', async () => {
    const text = await new IpvsTracer('IPv4', 'rr', unread).plan(
      [entryOf('a'), entryOf('b', [], { scheduler: 'mh' })],
      nodeNetwork(),
    );
    const sections = text.split(/^(?=# )/m).map((section) => section.trimEnd().split('\n'));
    expect(sections.map(([title]) => title)).toEqual([
      '# ipset restore',
      '# iptables-restore --noflush',
      '# ipvsadm -R',
      '# ip -batch -',
    ]);
    const [sets, rules, servers, addresses] = sections.map((lines) => lines.slice(1));
    expect(sets!.filter((line) => line.startsWith('create'))).toHaveLength(17);
    expect(sets).toContain('add KUBE-CLUSTER-IP 10.96.0.2,tcp:80');
    expect(rules).toContain('-A KUBE-SERVICES -m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT');
    expect(rules!.filter((line) => line === 'COMMIT')).toHaveLength(2);
    expect(servers).toEqual([
      '-A -t 10.96.0.1:80 -s rr',
      '-a -t 10.96.0.1:80 -r 10.244.1.1:8080 -m -w 1',
      '-A -t 10.96.0.2:80 -s mh -b mh-port',
    ]);
    expect(addresses).toEqual([
      'link add kube-ipvs0 type dummy',
      'address add 10.96.0.1/32 dev kube-ipvs0',
      'address add 10.96.0.2/32 dev kube-ipvs0',
    ]);
    expect(text.endsWith('\n')).toBe(true);
  });
});
