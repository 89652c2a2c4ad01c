/** Properties of this host that affect the rules: features of the tools and the kernel, and nfacct counters. */

import { readFile } from 'node:fs/promises';
import type { Logger } from '../../application/ports/logger.js';
import { COUNTER_NAMES, type CounterName, type IptablesHost } from '../../domain/iptables/options.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { EBUSY, ENOENT } from '../netlink/errors.js';
import { AttributeReader } from '../netlink/message-reader.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import { NetlinkChannel } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_NETFILTER, NLM_F_CREATE } from '../netlink/protocol.js';
import type { IptablesIdentity } from './iptables-tool.js';
import { lackingText } from './restore-failures.js';

const TCP_LIBERAL = '/proc/sys/net/netfilter/nf_conntrack_tcp_be_liberal';

/** Ensures that a counter exists. Rejects where the kernel has no counters. */
export interface CounterMaker {
  ensure(name: CounterName): Promise<void>;
}

/** Queries of the reader to the tools. */
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
  private readonly logged = new Set<string>();

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

  /** Unreadable counts as strict (docs/internals/spec/iptables.md §1.4). */
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
    if (!this.logged.has(what)) say();
    this.logged.add(what);
  }
}

/** linux/netfilter/nfnetlink_acct.h */
const NEW = 7 << 8;
const GET = (7 << 8) | 1;
const ATTRIBUTE = { NAME: 1, PACKETS: 2, BYTES: 3 } as const;
const FAMILY_WORD = 16;

/**
 * Named counters of the kernel that rules may add to (docs/internals/spec/iptables.md §15). They belong to the network namespace, and
 * stay when the process ends.
 */
export class Nfacct {
  private constructor(private readonly channel: NetlinkChannel) {}

  /** Throws a NetlinkError where there is no netlink; whether the kernel has counters shows when one is requested. */
  static open(): Nfacct {
    const channel = new NetlinkChannel(() => NetlinkSocket.open(NETLINK_NETFILTER));
    channel.open();
    return new Nfacct(channel);
  }

  /** Makes the counter unless it is there. Rejects with NetlinkRequestError where the kernel has none. */
  async ensure(name: string): Promise<void> {
    if ((await this.packets(name)) !== undefined) return;
    const put = (writer: MessageWriter): void => {
      putCounter(writer, name);
      writer.putBytes(ATTRIBUTE.PACKETS, Buffer.alloc(8));
      writer.putBytes(ATTRIBUTE.BYTES, Buffer.alloc(8));
    };
    const attempt = `creating the counter ${name}`;
    await this.channel.carryOut({ type: NEW, flags: NLM_F_CREATE, attempt, put }, [EBUSY]);
  }

  /** How many packets were counted; undefined when there is no such counter. */
  packets(name: string): Promise<number | undefined> {
    const attempt = `reading the counter ${name}`;
    const put = (writer: MessageWriter): void => putCounter(writer, name);
    return this.channel.find({ type: GET, attempt, put }, [ENOENT], ({ bytes, start, end }) => {
      const attributes = new AttributeReader(bytes, start + 4, end);
      while (attributes.next()) if (attributes.type === ATTRIBUTE.PACKETS) return attributes.number();
      return 0;
    });
  }

  /** Idempotent. */
  close(): void {
    void this.channel.close();
  }
}

function putCounter(writer: MessageWriter, name: string): void {
  writer.putWord(FAMILY_WORD);
  writer.putText(ATTRIBUTE.NAME, name);
}
