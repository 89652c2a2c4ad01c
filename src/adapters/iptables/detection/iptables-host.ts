import { readFile } from 'node:fs/promises';
import type { Logger } from '../../../application/ports/logger.js';
import {
  COUNTER_NAMES,
  type CounterName,
  type IptablesHost,
} from '../../../domain/iptables/compile/options.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { IptablesIdentity } from '../tool/iptables-tool.js';
import { lackingText } from './kernel-matches.js';

const TCP_LIBERAL = '/proc/sys/net/netfilter/nf_conntrack_tcp_be_liberal';

/** What makes sure that a counter exists. Rejects where the kernel has no counters. */
export interface CounterMaker {
  ensure(name: CounterName): Promise<void>;
}

/** What the reader asks the tools. */
interface HostTool {
  identify(): Promise<Pick<IptablesIdentity, 'randomFully'>>;
  lackingMatches(family: IpFamily): Promise<readonly string[]>;
}

/**
 * Reads what the rules depend on in this host, and logs once what it lacks. The sysctl is read once, everything else each
 * time.
 */
export class IptablesHostReader {
  private tcpLiberal: Promise<boolean> | undefined;
  private readonly said = new Set<string>();

  /** @param counters undefined where netlink is unavailable */
  constructor(
    private readonly tool: HostTool,
    private readonly counters: CounterMaker | undefined,
    private readonly logger: Logger,
    private readonly sysctl = TCP_LIBERAL,
  ) {}

  async read(family: IpFamily): Promise<IptablesHost> {
    const { randomFully } = await this.tool.identify();
    this.tcpLiberal ??= this.readTcpLiberal();
    const lacking = await this.tool.lackingMatches(family);
    for (const match of lacking) this.once(match, () => this.logger.warn({ match }, lackingText(match)));
    const counters = lacking.includes('nfacct') ? new Set<CounterName>() : await this.presentCounters();
    return { randomFully, tcpLiberal: await this.tcpLiberal, counters };
  }

  /** Unreadable counts as strict (docs/spec/iptables.md §1.4). */
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
        this.once('counters', () =>
          this.logger.info(
            { counter: name, error },
            'nfacct counters are unavailable; writing rules without them',
          ),
        );
      }
    }
    return present;
  }

  private once(what: string, say: () => void): void {
    if (!this.said.has(what)) say();
    this.said.add(what);
  }
}
