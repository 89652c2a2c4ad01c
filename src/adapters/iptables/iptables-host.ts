import { readFile } from 'node:fs/promises';
import type { Logger } from '../../application/ports/logger.js';
import { COUNTER_NAMES, type CounterName, type IptablesHost } from '../../domain/iptables/options.js';
import type { IptablesIdentity } from './iptables-tool.js';

const TCP_LIBERAL = '/proc/sys/net/netfilter/nf_conntrack_tcp_be_liberal';

/** What makes sure that a counter exists. Rejects where the kernel has no counters. */
export interface CounterMaker {
  ensure(name: CounterName): Promise<void>;
}

/**
 * Asks what the rules depend on in this host. The sysctl is looked at once, as long as the process lives; counters are
 * made sure of each time.
 */
export class IptablesHostReader {
  private tcpLiberal: Promise<boolean> | undefined;
  private saidNoCounters = false;

  /** @param counters undefined where netlink is not to be had */
  constructor(
    private readonly tool: { identify(): Promise<Pick<IptablesIdentity, 'randomFully'>> },
    private readonly counters: CounterMaker | undefined,
    private readonly logger: Logger,
    private readonly sysctl = TCP_LIBERAL,
  ) {}

  async read(): Promise<IptablesHost> {
    const { randomFully } = await this.tool.identify();
    this.tcpLiberal ??= this.readTcpLiberal();
    return { randomFully, tcpLiberal: await this.tcpLiberal, counters: await this.presentCounters() };
  }

  /** Unreadable counts as strict (spec/iptables.md §1.4). */
  private async readTcpLiberal(): Promise<boolean> {
    const text = await readFile(this.sysctl, 'utf8').catch(() => '0');
    return Number(text.trim()) !== 0;
  }

  private async presentCounters(): Promise<ReadonlySet<CounterName>> {
    const present = new Set<CounterName>();
    for (const name of COUNTER_NAMES) {
      try {
        await this.counters?.ensure(name);
        if (this.counters) present.add(name);
      } catch (error) {
        if (!this.saidNoCounters)
          this.logger.info({ counter: name, error }, 'no nfacct counters here; rules go without them');
        this.saidNoCounters = true;
      }
    }
    return present;
  }
}
