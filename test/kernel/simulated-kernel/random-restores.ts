import type { Random } from '../../simulation/world/random.js';
import { wordsOf } from '../../simulation/kernel/programs/rules/rule.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

const CHAINS = ['KUBE-A', 'KUBE-B', 'KUBE-C', 'MINE'];
const BUILT_IN = {
  nat: ['PREROUTING', 'OUTPUT', 'POSTROUTING', 'INPUT'],
  filter: ['INPUT', 'FORWARD', 'OUTPUT'],
  mangle: ['FORWARD', 'OUTPUT'],
};
type TableName = keyof typeof BUILT_IN;

/** Inputs of a restore as programs write them, and some that no program should. */
export class RandomRestores {
  constructor(
    private readonly random: Random,
    private readonly family: IpFamily,
  ) {}

  next(): string {
    const tables = Array.from({ length: this.random.between(1, 2) }, () =>
      this.random.pick(['nat', 'nat', 'filter', 'mangle'] as const),
    );
    return tables.map((table) => this.table(table)).join('');
  }

  /** What `iptables` is told, behind its name. */
  command(): readonly string[] {
    const { random } = this;
    const table = random.pick(['nat', 'nat', 'filter'] as const);
    const chain = random.isOneIn(4) ? random.pick(BUILT_IN[table]) : random.pick(CHAINS);
    const plain = [
      `-N ${chain}`,
      `-N ${random.pick(CHAINS)}`,
      `-F${random.isOneIn(4) ? '' : ` ${chain}`}`,
      `-X ${chain}`,
      `-S ${chain}`,
      '-S',
      `-D ${chain} ${random.between(1, 3)}`,
    ];
    const withRule = ['-A', '-I', '-D', '-C'].map((option) => `${option} ${chain} ${this.rule(table)}`);
    const line = random.isOneIn(2) ? random.pick(plain) : random.pick(withRule);
    return ['-w', '5', '-t', table, ...wordsOf(line)];
  }

  private table(table: TableName): string {
    const { random } = this;
    const lines = [`*${table}`];
    const emptied = CHAINS.filter(() => random.isOneIn(2));
    for (const chain of emptied) lines.push(`:${chain} - [0:0]`);
    if (random.isOneIn(6))
      lines.push(`:${random.pick(BUILT_IN[table])} ${random.pick(['ACCEPT', '-', 'ACCEPT'])} [0:0]`);
    const count = random.between(0, 6);
    for (let rule = 0; rule < count; rule++) lines.push(this.line(table, emptied));
    if (random.isOneIn(4)) lines.push(`-X ${random.pick(CHAINS)}`);
    if (!random.isOneIn(25)) lines.push('COMMIT');
    return `${lines.join('\n')}\n`;
  }

  /**
   * @param emptied chains that were declared: iptables-nft counts rules in them in its own way when it is given a position, and no
   *   program gives one
   */
  private line(table: TableName, emptied: readonly string[]): string {
    const { random } = this;
    const chain = random.isOneIn(5) ? random.pick(BUILT_IN[table]) : random.pick(CHAINS);
    switch (random.between(1, 12)) {
      case 1:
        return `-I ${chain} ${this.rule(table)}`;
      case 2:
        return `-I ${chain} ${emptied.includes(chain) ? '' : `${random.between(1, 3)} `}${this.rule(table)}`;
      case 3:
      case 4:
        return `-D ${chain} ${this.rule(table)}`;
      case 5:
        return `-N ${chain}`;
      default:
        return `-A ${chain}${random.isOneIn(30) ? '' : ` ${this.rule(table)}`}`;
    }
  }

  private rule(table: TableName): string {
    const { random } = this;
    if (random.isOneIn(12)) return this.oddity();
    const parts: string[] = [];
    if (random.isOneIn(3)) parts.push(`${random.isOneIn(3) ? '! ' : ''}-s ${this.network()}`);
    if (random.isOneIn(2)) parts.push(`-d ${this.network()}`);
    const protocol = random.pick(['tcp', 'udp', 'sctp', undefined]);
    if (protocol) parts.push(`-p ${protocol}`);
    if (random.isOneIn(2))
      parts.push(
        random.pick([
          '-m comment --comment "ns/svc:http cluster IP"',
          '-m comment --comment plain',
          '-m comment --comment "it\\"s"',
        ]),
      );
    if (random.isOneIn(3)) parts.push(random.pick(MATCHES));
    if (protocol && random.isOneIn(2)) parts.push(`-m ${protocol} --dport ${random.between(1, 65535)}`);
    parts.push(this.target(table, protocol));
    return parts.filter((part) => part !== '').join(' ');
  }

  private target(table: TableName, protocol: string | undefined): string {
    const { random, family } = this;
    if (random.isOneIn(2)) return `${random.isOneIn(9) ? '-g' : '-j'} ${random.pick(CHAINS)}`;
    const place = family === 'IPv4' ? '10.0.0.7' : 'fd00::7';
    const dnat = protocol
      ? `-j DNAT --to-destination ${family === 'IPv4' ? `${place}:80` : `[${place}]:80`}`
      : `-j DNAT --to-destination ${place}`;
    const usual = {
      nat: [
        dnat,
        '-j MASQUERADE --random-fully',
        '-j RETURN',
        '-j MARK --or-mark 0x4000',
        '-j MARK --set-xmark 0x4000/0x0',
      ],
      filter: ['-j REJECT', '-j DROP', '-j ACCEPT', ''],
      mangle: ['-j MARK --set-mark 0x10', '-j ACCEPT', ''],
    };
    return random.pick(usual[table]);
  }

  private network(): string {
    const { random, family } = this;
    const last = random.between(1, 3);
    return family === 'IPv4'
      ? random.pick([`10.96.0.${last}/32`, `10.96.0.${last}`, '10.244.0.0/16', '10.244.3.4/16'])
      : random.pick([`fd00::${last}/128`, `fd00::${last}`, 'fd00:1::/64']);
  }

  private oddity(): string {
    const wrong = this.family === 'IPv4' ? '10.0.0.999' : 'fd00::g';
    return this.random.pick([
      `-d ${wrong} -j RETURN`,
      '-p udp -m tcp --dport 80 -j RETURN',
      '-p tcp -m udp --dport 80 -j RETURN',
      '-m tcp --dport 80 -j RETURN',
      '-m nosuch -j RETURN',
      '-p tcp --dport 70000 -j RETURN',
      '-m set --match-set NOSUCH dst -j RETURN',
      '-j KUBE-NOSUCH',
      '-j MASQUERADE',
      '-j REJECT',
      '-j OUTPUT',
      '--nonsense -j RETURN',
      'nonsense',
      '-m statistic --mode random --probability 2 -j RETURN',
      '-j DNAT --to-destination',
      '-m conntrack --ctstate FOO',
      '-p tcp --dport 80 -p tcp',
      '-j DROP',
    ]);
  }
}

const MATCHES = [
  '-m conntrack --ctstate NEW',
  '-m conntrack --ctstate RELATED,ESTABLISHED',
  '-m mark --mark 0x4000/0x4000',
  '-m mark ! --mark 0x00004000/0x00004000',
  '-m addrtype --dst-type LOCAL',
  '-m addrtype ! --src-type LOCAL',
  '-m statistic --mode random --probability 0.33333333349',
  '-m statistic --mode random --probability 0.1666666667',
  '-m recent --rcheck --seconds 600 --reap --name KUBE-X --rsource',
  '-m recent --name KUBE-X --set',
];
