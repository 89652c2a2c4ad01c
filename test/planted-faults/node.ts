import { IN_KERNEL, type PlantedFault } from './fault.js';

const ADDRESSES = 'src/domain/node/node-addresses.ts';
const CHANNEL = 'src/adapters/netlink/netlink-channel.ts';
const LOCAL = 'src/adapters/rtnetlink/netlink-local-addresses.ts';
const OTHER_MODES = 'src/bootstrap/modes/remove-other-modes.ts';

/** The node and its kernel: addresses, netlink, choice and change of the mode. */
export const NODE_FAULTS: readonly PlantedFault[] = [
  {
    name: 'local-pods-by-the-first-network-alone',
    file: 'src/domain/node/local-traffic-detector.ts',
    original: 'texts.map(parseCidr).find((candidate) => candidate?.family === family);',
    fault: 'parseCidr(texts[0]);',
    modes: IN_KERNEL,
  },
  {
    name: 'node-ports-at-the-first-network-alone',
    file: ADDRESSES,
    original: 'if (address && cidrs.some(',
    fault: 'if (address && cidrs.slice(0, 1).some(',
  },
  {
    name: 'the-last-internal-address-is-the-first',
    file: ADDRESSES,
    original: '  const [first] = candidates;\n',
    fault: '  const first = candidates.at(-1);\n',
  },
  {
    name: 'prefixes-lose-a-bit',
    file: 'src/domain/net/cidr.ts',
    original: '(-1 << (32 - prefixLength))',
    fault: '(-1 << (33 - prefixLength))',
  },
  {
    name: 'kernel-timeouts-in-milliseconds',
    file: 'src/domain/node/conntrack-sysctls.ts',
    original: 'String(Math.floor(milliseconds / 1000))',
    fault: 'String(milliseconds)',
  },
  {
    name: 'lists-that-changed-meanwhile-are-complete',
    file: CHANNEL,
    original: 'if (succeeded(request, reply) && !reply.interrupted) return found;',
    fault: 'if (succeeded(request, reply)) return found;',
  },
  {
    name: 'errors-of-the-kernel-are-ignored',
    file: CHANNEL,
    original: '  if (expected.includes(errno)) return false;\n  throw new NetlinkRequestError',
    fault: '  if (expected.includes(errno) || errno > 0) return false;\n  throw new NetlinkRequestError',
  },
  {
    name: 'replies-to-other-requests-count',
    file: 'src/adapters/netlink/netlink-socket.ts',
    original: '      if (message.sequence !== sequence) continue;\n',
    fault: '',
  },
  {
    name: 'lost-replies-are-not-noticed',
    file: 'src/adapters/netlink/netlink-socket.ts',
    original: "if (length === 'lost') lost = true;",
    fault: "if (length === 'lost') lost = false;",
  },
  {
    name: 'a-busy-kernel-rejects-for-good',
    file: 'src/adapters/netlink/errors.ts',
    original: "'EBUSY', 'ERESTART',",
    fault: "'ERESTART',",
  },
  {
    name: 'removed-addresses-of-the-node-stay-known',
    file: LOCAL,
    original: 'if (message.type === RTM_DELADDR) return this.known.delete(key);',
    fault: 'if (message.type === RTM_DELADDR) return false;',
  },
  {
    name: 'new-addresses-of-the-node-wait-for-the-next-sync',
    file: LOCAL,
    original: '      this.onChange?.();\n',
    fault: '',
  },
  {
    name: 'auto-chooses-iptables',
    file: 'src/bootstrap/modes/choose-mode.ts',
    original: 'if (problem === undefined) return modes.nftables;',
    fault: 'if (problem === undefined) return modes.iptables;',
  },
  {
    name: 'other-modes-are-removed-before-services-are-programmed',
    file: OTHER_MODES,
    original:
      '  if (refused !== undefined) return failing(`they may serve Services that the kernel rejects: ${refused}`);\n',
    fault: '',
  },
  {
    name: 'rules-of-other-modes-are-removed-once-only',
    file: OTHER_MODES,
    original: '    if (failed.length === 0) return;\n',
    fault: '    return;\n',
  },
  {
    name: 'rules-of-other-modes-stay',
    file: OTHER_MODES,
    original: 'modes.filter(({ name }) => name !== present.name)',
    fault: 'modes.filter(({ name }) => name === present.name)',
  },
  {
    name: 'the-node-is-not-awaited',
    file: 'src/application/node/await-node.ts',
    original: 'if (this.hasAddress() || this.timeouts.isAddressOptional) return this.awaitPodCIDRs();',
    fault: 'if (this.node() || !this.node()) return this.awaitPodCIDRs();',
  },
  {
    name: 'mismatched-families-are-accepted',
    file: 'src/domain/node/configuration-checks.ts',
    original: "(podCIDRs && detectLocalMode === 'NodeCIDR');",
    fault: 'false;',
  },
];
