import { walked } from '../../../support/iptables/walked.js';

const fromNode = { inputInterface: undefined, source: '198.51.100.1' };
const toNode = { destination: '198.51.100.1' };
const mark = (value: string) => `-j MARK --set-xmark ${value}`;

describe('a walk through tables', () => {
  it('comes back from a jump, and from a goto to where the chain was entered', () => {
    const rules = (verb: string) => [
      '-A FORWARD -j one',
      '-A FORWARD -j REJECT --reject-with icmp-port-unreachable',
      `-A one ${verb} two`,
      '-A one -j DROP',
      '-A two -j RETURN',
    ];
    expect(walked({ filter: rules('-j') })).toMatchObject([{ verdict: 'drop' }]);
    expect(walked({ filter: rules('-g') })).toMatchObject([{ verdict: 'reject' }]);
  });

  it('ends a table, and no other one, with ACCEPT', () => {
    const [ending] = walked({
      mangle: ['-A FORWARD -j ACCEPT', '-A FORWARD -j DROP'],
      filter: ['-A FORWARD -j one', '-A FORWARD -j DROP', '-A one -j ACCEPT'],
      security: ['-A FORWARD -j REJECT --reject-with icmp-admin-prohibited'],
    });
    expect(ending).toMatchObject({ verdict: 'reject', masquerade: false });
    expect(ending!.steps.map(({ where, effect }) => `${where}: ${effect}`)).toEqual([
      'mangle FORWARD: accepts it',
      'filter FORWARD: jump one',
      'filter one: accepts it',
      'security FORWARD: answers with icmp-admin-prohibited',
    ]);
  });

  it('ends at the policy of a built-in chain where no rule decides', () => {
    const filter = [
      '-P FORWARD DROP',
      '-A FORWARD -j one',
      '-A FORWARD -d 10.0.0.0/8 -p udp -j ACCEPT',
      '-A one -j RETURN',
    ];
    const [ending] = walked({ filter });
    expect(ending).toMatchObject({ verdict: 'drop' });
    expect(ending!.steps.at(-1)).toMatchObject({ rule: '-P FORWARD DROP', foreign: true });
    expect(walked({ filter }, { protocol: 'UDP' })).toMatchObject([{ verdict: 'untouched' }]);
  });

  it('passes the hooks of its way: forwarded, received, sent, sent to itself', () => {
    const chains = [
      'mangle PREROUTING',
      'mangle INPUT',
      'mangle FORWARD',
      'mangle OUTPUT',
      'mangle POSTROUTING',
    ];
    const rules = [
      'raw PREROUTING',
      'raw OUTPUT',
      ...chains,
      'filter INPUT',
      'filter FORWARD',
      'filter OUTPUT',
    ]
      .concat('nat PREROUTING', 'nat INPUT', 'nat OUTPUT', 'nat POSTROUTING')
      .map((place) => place.split(' ') as [string, string]);
    const tables: Record<string, string[]> = {};
    for (const [table, chain] of rules) (tables[table] ??= []).push(`-A ${chain} -j ACCEPT`);
    const way = (packet: object) => walked(tables, packet)[0]!.steps.map(({ where }) => where);
    const received = [
      'raw PREROUTING',
      'mangle PREROUTING',
      'nat PREROUTING',
      'mangle INPUT',
      'filter INPUT',
      'nat INPUT',
    ];
    expect(way({})).toEqual([
      ...received.slice(0, 3),
      ...['mangle FORWARD', 'filter FORWARD', 'mangle POSTROUTING', 'nat POSTROUTING'],
    ]);
    expect(way(toNode)).toEqual(received);
    const sent = [
      'raw OUTPUT',
      'mangle OUTPUT',
      'nat OUTPUT',
      'filter OUTPUT',
      'mangle POSTROUTING',
      'nat POSTROUTING',
    ];
    expect(way(fromNode)).toEqual(sent);
    expect(way({ ...fromNode, ...toNode })).toEqual([
      ...sent,
      ...received.filter((where) => !where.startsWith('nat')),
    ]);
  });

  it('has no output interface before the packet is routed, nor where it comes to the node', () => {
    const devices = () => 'eth1';
    const drops = ['-A one -o eth1 -j DROP'];
    const verdicts = (chain: string, packet: object) =>
      walked({ mangle: [`-A ${chain} -j one`, ...drops] }, packet, {}, { devices }).map(
        ({ verdict }) => verdict,
      );
    expect(verdicts('PREROUTING', {})).toEqual(['untouched']);
    expect(verdicts('INPUT', toNode)).toEqual(['untouched']);
    expect(verdicts('FORWARD', {})).toEqual(['drop']);
    expect(verdicts('OUTPUT', fromNode)).toEqual(['drop']);
  });

  it('looks at the new destination after it was translated, and at the mark that was set', () => {
    const tables = {
      nat: [
        `-A PREROUTING ${mark('0x5/0x5')}`,
        '-A PREROUTING -j DNAT --to-destination 198.51.100.1:8080',
        '-A PREROUTING -j DROP',
      ],
      filter: [
        '-A INPUT -d 198.51.100.1/32 -p tcp -m tcp --dport 8080 -m mark --mark 0x4/0x4 -m conntrack --ctstate DNAT -m conntrack --ctorigdst 10.96.0.10 -j DROP',
      ],
    };
    expect(walked(tables)).toMatchObject([{ verdict: 'drop' }]);
  });

  it('sets and clears bits of the mark, and keeps it for the connection', () => {
    const tables = {
      mangle: [
        `-A PREROUTING ${mark('0xff/0xffffffff')}`,
        `-A PREROUTING ${mark('0xf0/0x0')}`,
        '-A PREROUTING -j CONNMARK --save-mark --nfmask 0x3 --ctmask 0xffffffff',
        `-A PREROUTING ${mark('0x0/0xffffffff')}`,
        '-A PREROUTING -j CONNMARK --restore-mark --nfmask 0xffffffff --ctmask 0x1',
        '-A PREROUTING -j CONNMARK --set-xmark 0x8/0x0',
      ],
      filter: ['-A FORWARD -m mark --mark 0x1 -m connmark --mark 0xb -j DROP'],
    };
    const [ending] = walked(tables);
    expect(ending!.verdict).toBe('drop');
    expect(ending!.steps.map(({ effect }) => effect)).toEqual([
      'sets the mark to 0xff',
      'sets the mark to 0xf',
      'sets the mark to 0x0',
      'sets the mark to 0x1',
      'drops it',
    ]);
  });

  it('asks table nat neither for what is not tracked nor twice', () => {
    const nat = ['-A PREROUTING -j DNAT --to-destination 10.1.1.1'];
    expect(walked({ raw: ['-A PREROUTING -j CT --notrack'], nat })).toMatchObject([{ verdict: 'untouched' }]);
    expect(walked({ raw: ['-A PREROUTING -j NOTRACK'], nat })).toMatchObject([{ verdict: 'untouched' }]);
    const twice = [
      '-A OUTPUT -j DNAT --to-destination 198.51.100.1:8080',
      '-A PREROUTING -j DNAT --to-destination 10.1.1.1',
    ];
    expect(walked({ nat: twice }, fromNode)).toMatchObject([
      { endpoint: { address: '198.51.100.1', port: 8080 } },
    ]);
  });

  it('knows a source that was masqueraded towards the node itself', () => {
    const tables = {
      nat: [
        '-A OUTPUT -j DNAT --to-destination 198.51.100.1:8080',
        '-A POSTROUTING -j MASQUERADE --random-fully',
      ],
      filter: ['-A INPUT -s 198.51.100.1/32 -i lo -j DROP'],
    };
    expect(walked(tables, { ...fromNode, source: '203.0.113.1' })).toMatchObject([
      { verdict: 'drop', masquerade: true },
    ]);
  });

  it.each([
    ['10.1.1.1:8080', '10.1.1.1', 8080, {}],
    ['10.1.1.1', '10.1.1.1', 80, {}],
    [':8080', '10.96.0.10', 8080, {}],
    ['[fd00::5]:8080', 'fd00::5', 8080, { family: 'IPv6', source: '2001:db8:9::9', destination: 'fd00::10' }],
    ['fd00::5', 'fd00::5', 80, { family: 'IPv6', source: '2001:db8:9::9', destination: 'fd00::10' }],
  ] as const)('reads the destination %s', (text, address, port, packet) => {
    const nat = [`-A PREROUTING -j DNAT --to-destination ${text}`];
    expect(walked({ nat }, packet)).toMatchObject([{ verdict: 'forward', endpoint: { address, port } }]);
  });

  it('redirects to the node itself, by an address of its own', () => {
    const tables = {
      nat: ['-A PREROUTING -j REDIRECT --to-ports 8080', '-A OUTPUT -j REDIRECT'],
      filter: ['-A INPUT ! -i lo -d 127.0.0.0/8 -j DROP'],
    };
    const [arrived] = walked(tables);
    expect(arrived).toMatchObject({ verdict: 'forward', endpoint: { address: '198.51.100.1', port: 8080 } });
    expect(arrived!.steps).toMatchObject([{ effect: 'redirected to port 8080 of this node' }]);
    expect(walked(tables, fromNode)).toMatchObject([{ endpoint: { address: '127.0.0.1', port: 80 } }]);
  });

  it('rewrites the source where another program wants that', () => {
    const [ending] = walked({ nat: ['-A POSTROUTING -s 192.0.2.0/24 -j SNAT --to-source 198.51.100.7'] });
    expect(ending).toMatchObject({ verdict: 'untouched', masquerade: true });
    expect(ending!.steps).toMatchObject([{ effect: 'rewrites the source to 198.51.100.7', foreign: true }]);
  });

  it.each([
    '-j DNAT --to-destination 10.1.1.1-10.1.1.9',
    '-j NFQUEUE --queue-num 0',
    '-j REDIRECT --to-ports 1-9',
  ])('takes a target that it does not understand for none, and says so: %s', (target) => {
    const [ending] = walked({ nat: [`-A PREROUTING ${target}`] });
    expect(ending).toMatchObject({ verdict: 'untouched' });
    expect(ending!.steps).toMatchObject([
      { effect: expect.stringMatching(/^cannot tell what target \w+ does/) as string, uncertain: true },
    ]);
  });

  it('says nothing of rules that decide nothing', () => {
    const tables = {
      mangle: [
        '-A FORWARD -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu',
        '-A FORWARD',
      ],
      filter: [
        '-A FORWARD -m limit --limit 5/min -j LOG --log-prefix "-j DROP "',
        '-A FORWARD -j empty',
        '-A empty -p udp -j DROP',
      ],
    };
    expect(walked(tables)).toEqual([
      { verdict: 'untouched', probability: 1, masquerade: false, sticky: false, steps: [] },
    ]);
  });

  it('parts where a rule applies by chance', () => {
    const endings = walked({
      nat: [
        '-A PREROUTING -m statistic --mode nth --every 4 --packet 0 -j DNAT --to-destination 10.1.1.1',
        '-A PREROUTING -m statistic --mode random ! --probability 0.75 -j DNAT --to-destination 10.1.1.2',
        `-A PREROUTING -m statistic --mode random --probability 0.50000000000 ${mark('0x1/0x1')}`,
        '-A PREROUTING -j DNAT --to-destination 10.1.1.3',
      ],
      filter: ['-A FORWARD -m mark --mark 0x1/0x1 -j DROP'],
    });
    expect(
      endings.map(({ endpoint, verdict, probability }) => [endpoint?.address ?? verdict, probability]),
    ).toEqual([
      ['10.1.1.1', 0.25],
      ['10.1.1.2', 0.1875],
      ['drop', 0.28125],
      ['10.1.1.3', 0.28125],
    ]);
    expect(endings[0]!.steps[0]!.effect).toBe('sends it to 10.1.1.1:80 by chance, 1 in 4');
  });

  it('tells foreign rules from those of the mode, and what service port a rule is about', () => {
    const [ending] = walked({
      nat: [
        '-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
        '-A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m comment --comment "shop/cart:http cluster IP" -m tcp --dport 80 -j KUBE-SVC',
        '-A KUBE-SVC -p tcp -m comment --comment "shop/cart" -m tcp -j DNAT --to-destination 10.1.1.1:80',
      ],
      filter: ['-A FORWARD -j firewall', '-A firewall -d 10.1.1.1/32 -j DROP'],
    });
    expect(ending!.steps.map(({ where, servicePort, foreign }) => [where, servicePort, foreign])).toEqual([
      ['nat PREROUTING', undefined, undefined],
      ['nat KUBE-SERVICES', 'shop/cart:http', undefined],
      ['nat KUBE-SVC', 'shop/cart', undefined],
      ['filter FORWARD', undefined, true],
      ['filter firewall', undefined, true],
    ]);
  });

  it('comes to a chain whatever its name is', () => {
    expect(walked({ filter: ['-A FORWARD -j constructor', '-A constructor -j DROP'] })).toMatchObject([
      { verdict: 'drop' },
    ]);
  });

  it('ends although chains call each other in a circle', () => {
    const [ending] = walked({ filter: ['-A FORWARD -j one', '-A one -j two', '-A two -j one'] });
    expect(ending!.verdict).toBe('untouched');
    expect(ending!.steps.some(({ uncertain }) => uncertain)).toBe(true);
  });
});
