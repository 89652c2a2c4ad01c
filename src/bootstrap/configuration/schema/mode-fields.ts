import { field } from './field.js';
import { cidrs, notNegativeDuration, positiveDuration, within } from './field-rule.js';
import { stringSlice } from '../types/list-types.js';
import { bool, duration, int32, optionalDuration, text } from '../types/scalar-types.js';

const SECOND = 1_000;

/** `iptables`: also what kube-proxy takes from there for mode ipvs. */
export const iptablesFields = {
  masqueradeBit: field(int32, {
    default: 14,
    keepsZero: true,
    flag: 'iptables-masquerade-bit',
    modes: ['iptables', 'ipvs'],
    rule: { ...within(2, 'KubeProxyIPTablesConfiguration.MasqueradeBit', 0, 31), inEveryMode: true },
    onEdit: 'resync',
    help: 'Bit of the packet mark that requests masquerading.',
  }),
  masqueradeAll: field(bool, {
    flag: 'masquerade-all',
    modes: ['iptables', 'ipvs'],
    elsewhere: false,
    onEdit: 'resync',
    help: 'Masquerade all traffic sent to service IPs.',
  }),
  localhostNodePorts: field(bool, {
    default: true,
    keepsZero: true,
    flag: 'iptables-localhost-nodeports',
    modes: ['iptables'],
    help: 'Accept node port traffic on IPv4 loopback addresses.',
  }),
  syncPeriod: field(duration, {
    default: 30 * SECOND,
    flag: 'iptables-sync-period',
    modes: ['iptables', 'userspace'],
    elsewhere: '0s',
    rule: positiveDuration(12, 'SyncPeriod'),
    onEdit: 'at-once',
    help: 'Least time between two full verifications of the rules.',
  }),
  minSyncPeriod: field(duration, {
    default: SECOND,
    flag: 'iptables-min-sync-period',
    modes: ['iptables', 'userspace'],
    elsewhere: '0s',
    rule: notNegativeDuration(13, 'MinSyncPeriod'),
    onEdit: 'at-once',
    help: 'Minimum time between two writes of rules; 0 writes each change immediately.',
  }),
};

/** `ipvs`. */
export const ipvsFields = {
  syncPeriod: field(duration, {
    default: 30 * SECOND,
    flag: 'ipvs-sync-period',
    modes: ['ipvs'],
    elsewhere: '0s',
    rule: positiveDuration(12, 'SyncPeriod'),
    onEdit: 'at-once',
    help: 'Least time between two full verifications of the rules.',
  }),
  minSyncPeriod: field(duration, {
    flagDefault: SECOND,
    flag: 'ipvs-min-sync-period',
    modes: ['ipvs'],
    elsewhere: '0s',
    rule: notNegativeDuration(13, 'MinSyncPeriod'),
    onEdit: 'at-once',
    help: 'Minimum time between two writes of rules.',
  }),
  scheduler: field(text, {
    flag: 'ipvs-scheduler',
    modes: ['ipvs'],
    help: 'IPVS scheduler; blank means rr.',
  }),
  excludeCIDRs: field(stringSlice, {
    flag: 'ipvs-exclude-cidrs',
    modes: ['ipvs'],
    rule: cidrs(4, 'KubeProxyIPVSConfiguration.ExcludeCidrs'),
    help: 'CIDRs whose IPVS virtual servers are not touched when cleaning up.',
  }),
  strictARP: field(bool, {
    flag: 'ipvs-strict-arp',
    modes: ['ipvs'],
    help: 'Set arp_ignore to 1 and arp_announce to 2.',
  }),
  tcpTimeout: field(duration, {
    flag: 'ipvs-tcp-timeout',
    modes: ['ipvs'],
    rule: notNegativeDuration(3, 'KubeProxyIPVSConfiguration.TCPTimeout'),
    help: "Timeout of idle IPVS TCP connections; 0 keeps the kernel's.",
  }),
  tcpFinTimeout: field(duration, {
    flag: 'ipvs-tcpfin-timeout',
    modes: ['ipvs'],
    rule: notNegativeDuration(3, 'KubeProxyIPVSConfiguration.TCPFinTimeout'),
    help: "Timeout of IPVS TCP connections after a FIN; 0 keeps the kernel's.",
  }),
  udpTimeout: field(duration, {
    flag: 'ipvs-udp-timeout',
    modes: ['ipvs'],
    rule: notNegativeDuration(3, 'KubeProxyIPVSConfiguration.UDPTimeout'),
    help: "Timeout of IPVS UDP packets; 0 keeps the kernel's.",
  }),
};

/** `nftables`. Some have no flag of their own and follow those of iptables. */
export const nftablesFields = {
  masqueradeBit: field(int32, {
    default: 14,
    keepsZero: true,
    modes: ['nftables'],
    rule: within(5, 'KubeProxyNFTablesConfiguration.MasqueradeBit', 0, 31),
    onEdit: 'resync',
    help: 'Bit of the packet mark that requests masquerading.',
  }),
  masqueradeAll: field(bool, {
    flag: 'masquerade-all',
    modes: ['nftables'],
    elsewhere: false,
    onEdit: 'resync',
    help: 'Masquerade all traffic sent to service IPs.',
  }),
  syncPeriod: field(duration, {
    default: 30 * SECOND,
    flag: 'iptables-sync-period',
    modes: ['nftables'],
    elsewhere: '0s',
    rule: positiveDuration(12, 'SyncPeriod'),
    onEdit: 'at-once',
    help: 'Least time between two full verifications of the rules.',
  }),
  minSyncPeriod: field(optionalDuration('1s'), {
    flag: 'iptables-min-sync-period',
    modes: ['nftables'],
    elsewhere: '0s',
    rule: notNegativeDuration(13, 'MinSyncPeriod'),
    onEdit: 'at-once',
    help: 'Minimum time between two writes of rules; if unset, each change is written immediately.',
  }),
};
