import type { Walk } from '../../application/ports/tracer.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { follow } from '../../domain/nftables/follow.js';
import { isOurs } from '../../domain/nftables/kernel-course.js';
import type { KernelTable } from '../../../domain/nftables/kernel/ruleset.js';
import type { Step } from '../../domain/trace/trace.js';
import { NetlinkChannel, type NetlinkConversation } from '../../../adapters/netlink/netlink-channel.js';
import { NetlinkSocket } from '../../../adapters/netlink/netlink-socket.js';
import { NETLINK_NETFILTER, NETLINK_ROUTE } from '../../../adapters/netlink/protocol.js';
import { listLinks } from '../../../adapters/rtnetlink/rtnetlink.js';
import { readElements } from './kernel-elements.js';
import { readRuleset } from './read-ruleset.js';

/**
 * The rules of nf_tables as they are now, those of all programs. Elements of sets are read when a packet meets them, with a socket
 * that is opened for each packet. Where other programs change a table all the time, answers are marked as uncertain.
 * @throws NetlinkError if the kernel cannot be asked; the signal's reason when it is aborted
 */
export async function readActualWalk(
  family: IpFamily,
  signal?: AbortSignal,
  openSocket = (protocol: number) => NetlinkSocket.open(protocol),
): Promise<Walk> {
  const withNftables = <Result>(
    use: (conversation: NetlinkConversation) => Promise<Result>,
  ): Promise<Result> =>
    NetlinkChannel.during(
      () => openSocket(NETLINK_NETFILTER),
      (channel) => channel.runExclusive(use),
    );
  const { tables, unsteady } = await withNftables((conversation) =>
    readRuleset(conversation, family, signal),
  );
  const links = await NetlinkChannel.during(() => openSocket(NETLINK_ROUTE), listLinks);
  const deviceNumbers = new Map(links.map(({ name, index }) => [name, index]));
  const doubts = unsteady.map(doubtAbout);
  return {
    async walk(packet, environment) {
      const endings = await withNftables((conversation) =>
        follow({ tables, deviceNumbers }, packet, environment, (wanted) =>
          readElements(conversation, wanted),
        ),
      );
      return endings.map((ending) => ({ ...ending, steps: [...doubts, ...ending.steps] }));
    },
  };
}

function doubtAbout(table: KernelTable): Step {
  return {
    hook: 'all hooks',
    where: `${table.family} ${table.name}`,
    rule: '',
    effect: 'another program changes this table all the time, so it is followed as it was at some moment',
    ...(!isOurs(table) && { isForeign: true }),
    isUncertain: true,
  };
}
