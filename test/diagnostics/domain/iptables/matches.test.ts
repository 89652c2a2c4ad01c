import type { IpSet } from '../../../../src/domain/ipvs/ip-set.js';
import type { Packet } from '../../../../src/diagnostics/domain/trace/trace.js';
import { ARRIVING, walked } from '../../../support/iptables/walked.js';

const SETS = new Map<string, IpSet>(
  [
    { name: 'hosts', type: 'hash:ip', family: 'IPv4', members: new Set(['192.0.2.9']) } as const,
    { name: 'ports', type: 'bitmap:port', family: 'IPv4', members: new Set(['80']) } as const,
    { name: 'pairs', type: 'hash:ip,port', family: 'IPv4', members: new Set(['10.96.0.10,tcp:80']) } as const,
    {
      name: 'nets',
      type: 'hash:ip,port,net',
      family: 'IPv4',
      members: new Set(['10.96.0.10,tcp:80,192.0.2.0/24', '10.96.0.10,udp:80,192.0.2.9']),
    } as const,
  ].map((set) => [set.name, set]),
);

/** Whether a rule of table mangle with these conditions applies to the packet. */
function applies(conditions: string, packet: Partial<Packet> = {}): boolean | 'uncertain' {
  const [ending] = walked(
    { mangle: [`-A FORWARD ${conditions} -j DROP`, `-A OUTPUT ${conditions} -j DROP`] },
    packet,
    {},
    { sets: SETS },
  );
  if (ending!.steps.some(({ uncertain }) => uncertain)) return 'uncertain';
  return ending!.verdict === 'drop';
}

const fromNode = { inputInterface: undefined, source: '198.51.100.1' };
const ipv6 = { family: 'IPv6', source: '2001:db8:9::9', destination: 'fd00::10' } as const;

const CASES = (
  [
    ['', true],
    ['-s 192.0.2.9/32', true],
    ['-s 192.0.2.8/32', false],
    ['-s 192.0.2.0/24', true],
    ['! -s 192.0.2.0/24', false],
    ['-d 10.96.0.0/12', true],
    ['-d 10.112.0.0/12', false],
    ['-s 192.0.2.0/255.0.255.0', 'uncertain'],
    ['-s 2001:db8:9::/48', true, ipv6],
    ['! -d fd00::10/128', false, ipv6],
    ['-d fd00::10', true, ipv6],
    ['-d fd00::11', false, ipv6],
    ['-i eth0', true],
    ['-i eth+', true],
    ['! -i eth+', false],
    ['-i eth', false],
    ['-i eth+', false, fromNode],
    ['! -i eth+', true, fromNode],
    ['-o lo', false],
    ['! -o lo', true],
    ['-o eth1', 'uncertain'],
    ['-o eth1 -s 10.0.0.0/8', false],
    ['-o lo', true, { ...fromNode, destination: '127.0.0.1' }],
    ['-p tcp', true],
    ['-p 6', true],
    ['! -p tcp', false],
    ['-p udp', false],
    ['-p sctp', true, { protocol: 'SCTP' }],
    ['-f', false],
    ['! -f', true],
    ['-p tcp -m tcp --dport 80', true],
    ['-p tcp -m tcp ! --dport 80', false],
    ['-p tcp -m tcp --dport 8000:8080', false],
    ['-p tcp -m tcp --dport 1:1024', true],
    ['-p tcp -m tcp --sport 1024:65535', 'uncertain'],
    ['-p tcp -m tcp --sport 0:65535', true],
    ['-m udp --dport 80', false],
    ['-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN', true],
    ['-p tcp -m tcp ! --tcp-flags FIN,SYN,RST,ACK SYN', false],
    ['-p tcp -m tcp --tcp-flags FIN,ACK NONE', true],
    ['-p tcp -m tcp --tcp-flags ALL NONE', false],
    ['-p tcp -m tcp --tcp-option 3', 'uncertain'],
    ['-p tcp -m multiport --dports 22,80:81', true],
    ['-p tcp -m multiport ! --dports 22,80:81', false],
    ['-p tcp -m multiport --sports 22,1024:65535', 'uncertain'],
    ['-p tcp -m multiport --sports 0:65535', true],
    ['-p tcp -m multiport --ports 80', true],
    ['-p tcp -m multiport --ports 22', 'uncertain'],
    ['-m conntrack --ctstate NEW', true],
    ['-m conntrack --ctstate RELATED,ESTABLISHED', false],
    ['-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT', true],
    ['-m conntrack --ctstate INVALID', false],
    ['-m state --state NEW', true],
    ['-m conntrack --ctorigdst 10.96.0.10', true],
    ['-m conntrack --ctorigdst 10.96.0.0/16 --ctorigdstport 81', false],
    ['-m conntrack --ctorigsrc 192.0.2.9 --ctproto 6 --ctdir ORIGINAL', true],
    ['-m conntrack --ctdir REPLY', false],
    ['-m conntrack --ctstatus ASSURED', 'uncertain'],
    ['-m mark --mark 0x0/0x4000', true],
    ['-m mark --mark 0x4000/0x4000', false],
    ['-m mark ! --mark 0x4000/0x4000', true],
    ['-m connmark --mark 0x1', false],
    ['-m addrtype --dst-type LOCAL', false],
    ['-m addrtype --src-type LOCAL', true, fromNode],
    ['-m addrtype ! --dst-type LOCAL', true],
    ['-m addrtype --dst-type LOCAL', true, { ...fromNode, destination: '127.0.0.5' }],
    ['-m addrtype --dst-type UNICAST', true],
    ['-m addrtype --dst-type MULTICAST', false],
    ['-m addrtype --dst-type MULTICAST', true, { destination: '224.0.0.251' }],
    ['-m addrtype --dst-type UNICAST', false, { destination: '224.0.0.251' }],
    ['-m addrtype --dst-type BLACKHOLE', 'uncertain'],
    ['-m addrtype --dst-type LOCAL --limit-iface-in', false],
    ['-m set --match-set hosts src', true],
    ['-m set ! --match-set hosts src', false],
    ['-m set --match-set hosts dst', false],
    ['-m set --match-set ports dst', true],
    ['-m set --match-set ports src', 'uncertain'],
    ['-m set --match-set pairs dst,dst', true],
    ['-m set --match-set pairs src,dst', false],
    ['-m set --match-set nets dst,dst,src', true],
    ['-m set --match-set nets dst,dst,src', true, { protocol: 'UDP' }],
    ['-m set --match-set nets dst,dst,src', false, { source: '192.0.3.9' }],
    ['-m set --match-set gone dst', 'uncertain'],
    ['-m comment --comment "! -s -j -m \\"quoted\\""', true],
    ['-m nfacct --nfacct-name  counter', true],
    ['-m physdev ! --physdev-is-in', true],
    ['-m physdev --physdev-in eth7', 'uncertain'],
    ['-m pkttype --pkt-type unicast', true],
    ['-m pkttype ! --pkt-type broadcast', true],
    ['-m ipvs --ipvs', false],
    ['-m ipvs ! --ipvs', true],
    ['-m ipvs --vproto 6 --vaddr 10.96.0.10 --vport 80', false],
    ['-m bpf --bytecode "4,48 0 0 9,21 0 1 6,6 0 0 1,6 0 0 0"', 'uncertain'],
    ['-p udp -m bpf --bytecode "4,48 0 0 9"', false],
    ['-m recent --rdest --rcheck', 'uncertain'],
    ['-m recent --remove --name one', 'uncertain'],
    ['-m recent ! --update --name one', true],
    ['-m recent --update --name one', false],
    ['-m recent ! --rcheck --name one', true],
    ['-m statistic --mode unheard', 'uncertain'],
  ] as readonly (readonly [conditions: string, expected: boolean | 'uncertain', packet?: Partial<Packet>])[]
).map(([conditions, expected, packet]) => ({ conditions, expected, packet }));

describe('a condition of a rule', () => {
  it.each(CASES)('$conditions: $expected', ({ conditions, expected, packet }) => {
    expect(applies(conditions, packet)).toBe(expected);
  });

  it('names what cannot be told', () => {
    const [{ steps }] = walked({
      filter: ['-A FORWARD -m owner ! --uid-owner 0 -m limit --limit 5/sec -j DROP'],
    }) as [never];
    expect(steps).toEqual([
      {
        hook: 'forward',
        where: 'filter FORWARD',
        rule: '-A FORWARD -m owner ! --uid-owner 0 -m limit --limit 5/sec -j DROP',
        effect: 'cannot tell whether -m owner, -m limit holds; assumed not to',
        uncertain: true,
        foreign: true,
      },
    ]);
  });

  it('is named as it stands in the rule', () => {
    const [ending] = walked({ filter: ['-A FORWARD -o eth1 -p tcp -m tcp ! --sport 1024 -j DROP'] });
    expect(ending!.steps).toMatchObject([
      {
        effect: 'cannot tell whether -o eth1, -m tcp ! --sport 1024 holds; assumed not to',
      },
    ]);
  });

  it('asks lists of clients for what earlier packets left there', () => {
    const rules = {
      nat: [
        '-A PREROUTING -j KUBE-SVC',
        '-A KUBE-SVC -m recent --rcheck --seconds 60 --reap --name one --mask 255.255.255.255 --rsource -j KUBE-ONE',
        '-A KUBE-SVC -j KUBE-OTHER',
        '-A KUBE-ONE -p tcp -m recent --set --name one --mask 255.255.255.255 --rsource -m tcp -j DNAT --to-destination 10.1.1.1:80',
        '-A KUBE-OTHER -p tcp -m tcp -j DNAT --to-destination 10.1.1.2:80',
      ],
    };
    const remembered = new Map([['one', new Set([ARRIVING.source])]]);
    expect(walked(rules, {}, { remembered })).toMatchObject([
      { endpoint: { address: '10.1.1.1' }, sticky: true },
    ]);
    expect(walked(rules)).toMatchObject([{ endpoint: { address: '10.1.1.2' }, sticky: false }]);
  });

  it('takes no list that nobody asks for session affinity', () => {
    const rules = {
      nat: ['-A PREROUTING -p tcp -m recent --set --name seen --rsource -j DNAT --to-destination 10.1.1.1'],
    };
    expect(walked(rules)).toMatchObject([{ endpoint: { address: '10.1.1.1', port: 80 }, sticky: false }]);
  });
});
