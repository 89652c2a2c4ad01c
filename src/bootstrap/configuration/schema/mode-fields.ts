import { field, fieldsWith } from './field.js';
import * as rules from './field-rule.js';
import { stringSlice } from '../types/list-types.js';
import { bool, duration, int32, optionalDuration, text } from '../types/scalar-types.js';

const SECOND = 1_000;

/* What fields of several modes have in common. */
const VERIFICATION = {
  default: 30 * SECOND,
  elsewhere: '0s',
  rule: rules.positiveDuration(12, 'SyncPeriod'),
  onEdit: 'at-once',
  help: 'Least time between two full verifications of the rules.',
} as const;
const PAUSE = {
  elsewhere: '0s',
  rule: rules.notNegativeDuration(13, 'MinSyncPeriod'),
  onEdit: 'at-once',
} as const;
const MASQUERADE_BIT = {
  default: 14,
  keepsZero: true,
  onEdit: 'resync',
  help: 'Bit of the packet mark that requests masquerading.',
} as const;
const MASQUERADE_ALL = {
  flag: 'masquerade-all',
  elsewhere: false,
  onEdit: 'resync',
  help: 'Masquerade all traffic sent to service IPs.',
} as const;

/** `iptables`: also what kube-proxy takes from there for mode ipvs. */
export const iptablesFields = {
  masqueradeBit: field(int32, {
    ...MASQUERADE_BIT,
    flag: 'iptables-masquerade-bit',
    modes: ['iptables', 'ipvs'],
    rule: { ...rules.within(2, 'KubeProxyIPTablesConfiguration.MasqueradeBit', 0, 31), inEveryMode: true },
  }),
  masqueradeAll: field(bool, { ...MASQUERADE_ALL, modes: ['iptables', 'ipvs'] }),
  localhostNodePorts: field(bool, {
    default: true,
    keepsZero: true,
    flag: 'iptables-localhost-nodeports',
    modes: ['iptables'],
    help: 'Accept node port traffic on IPv4 loopback addresses.',
  }),
  syncPeriod: field(duration, {
    ...VERIFICATION,
    flag: 'iptables-sync-period',
    modes: ['iptables', 'userspace'],
  }),
  minSyncPeriod: field(duration, {
    default: SECOND,
    flag: 'iptables-min-sync-period',
    modes: ['iptables', 'userspace'],
    ...PAUSE,
    help: 'Minimum time between two writes of rules; 0 writes each change immediately.',
  }),
};

const ipvsField = fieldsWith({ modes: ['ipvs'] });

function ipvsTimeout(protocol: string, name: string, of: string) {
  return ipvsField(duration, {
    flag: `ipvs-${protocol}-timeout`,
    rule: rules.notNegativeDuration(3, `KubeProxyIPVSConfiguration.${name}`),
    help: `Timeout of ${of}; 0 keeps the kernel's.`,
  });
}

/** `ipvs`. */
export const ipvsFields = {
  syncPeriod: ipvsField(duration, { ...VERIFICATION, flag: 'ipvs-sync-period' }),
  minSyncPeriod: ipvsField(duration, {
    flagDefault: SECOND,
    flag: 'ipvs-min-sync-period',
    ...PAUSE,
    help: 'Minimum time between two writes of rules.',
  }),
  scheduler: ipvsField(text, {
    flag: 'ipvs-scheduler',
    help: 'IPVS scheduler; blank means rr.',
  }),
  excludeCIDRs: ipvsField(stringSlice, {
    flag: 'ipvs-exclude-cidrs',
    rule: rules.cidrs(4, 'KubeProxyIPVSConfiguration.ExcludeCidrs'),
    help: 'CIDRs whose IPVS virtual servers are not touched when cleaning up.',
  }),
  strictARP: ipvsField(bool, {
    flag: 'ipvs-strict-arp',
    help: 'Set arp_ignore to 1 and arp_announce to 2.',
  }),
  tcpTimeout: ipvsTimeout('tcp', 'TCPTimeout', 'idle IPVS TCP connections'),
  tcpFinTimeout: ipvsTimeout('tcpfin', 'TCPFinTimeout', 'IPVS TCP connections after a FIN'),
  udpTimeout: ipvsTimeout('udp', 'UDPTimeout', 'IPVS UDP packets'),
};

const nftablesField = fieldsWith({ modes: ['nftables'] });

/** `nftables`. Some have no flag of their own and follow those of iptables. */
export const nftablesFields = {
  masqueradeBit: nftablesField(int32, {
    ...MASQUERADE_BIT,
    rule: rules.within(5, 'KubeProxyNFTablesConfiguration.MasqueradeBit', 0, 31),
  }),
  masqueradeAll: nftablesField(bool, { ...MASQUERADE_ALL }),
  syncPeriod: nftablesField(duration, { ...VERIFICATION, flag: 'iptables-sync-period' }),
  minSyncPeriod: nftablesField(optionalDuration('1s'), {
    flag: 'iptables-min-sync-period',
    ...PAUSE,
    help: 'Minimum time between two writes of rules; if unset, each change is written immediately.',
  }),
};
