import type { TableName } from '../../domain/iptables/table.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { RulesWatch } from './rules-watch.js';
import { loadSystemCalls, type SystemCalls } from './system-calls.js';

const SOCK_RAW_CLOEXEC = 3 | 0o2000000;
const IPPROTO_RAW = 255;
/** IPT_SO_GET_INFO and IP6T_SO_GET_INFO (linux/netfilter_ipv4/ip_tables.h, linux/netfilter_ipv6/ip6_tables.h). */
const GET_INFO = 64;
const PLACES = { IPv4: { domain: 2, level: 0 }, IPv6: { domain: 10, level: 41 } } as const;
/** struct ipt_getinfo: the table's name, valid hooks, and then what we compare: offsets, number of entries, size. */
const INFO_LENGTH = 84;
const NAME_LENGTH = 32;
const TABLES: readonly TableName[] = ['filter', 'nat', 'mangle'];

/**
 * For iptables-legacy: the kernel tells of each table how many entries it has, how many bytes, and where the built-in
 * chains begin, for the price of a system call. Only a change that keeps all of that goes unnoticed until the rules are
 * compared.
 */
export class LegacyWatch implements RulesWatch {
  private known: string | undefined;
  private count = 0;

  constructor(
    private readonly family: IpFamily,
    private readonly calls: SystemCalls | undefined = loadSystemCalls(),
  ) {}

  /** What the tables look like after our work is what they should look like; before it, they tell of others. */
  async ours<T>(work: () => Promise<T>): Promise<T> {
    this.compare();
    const outcome = await work();
    this.known = this.look();
    return outcome;
  }

  epoch(): Promise<number | undefined> {
    return Promise.resolve(this.compare());
  }

  private compare(): number | undefined {
    const now = this.look();
    if (now !== this.known) this.count++;
    this.known = now;
    return now === undefined ? undefined : this.count;
  }

  private look(): string | undefined {
    const { calls } = this;
    if (!calls) return undefined;
    const { domain, level } = PLACES[this.family];
    const fd = calls.socket(domain, SOCK_RAW_CLOEXEC, IPPROTO_RAW);
    if (fd < 0) return undefined;
    try {
      const infos = TABLES.map((table) => {
        const info = Buffer.alloc(INFO_LENGTH);
        info.write(table);
        const length = Buffer.alloc(4);
        length.writeUInt32LE(INFO_LENGTH);
        if (calls.getsockopt(fd, level, GET_INFO, info, length) < 0) return undefined;
        return info.toString('latin1', NAME_LENGTH);
      });
      return infos.includes(undefined) ? undefined : infos.join('');
    } finally {
      calls.close(fd);
    }
  }
}
