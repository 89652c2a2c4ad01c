import { LOCAL_BY_NODE, type Mode } from '../world/settings.js';
import { OF_RULES, OF_RULES_OF_ALL_MODES, OF_THE_MOMENT, type Theme } from './themes.js';

/** A theme for one more round, in worlds that begin in certain modes. */
export interface LastRound extends Theme {
  /** Missing: in all. */
  readonly modes?: readonly Mode[];
  /** Only, and instead of the others, in worlds with this argument. */
  readonly argument?: string;
  /** No other round comes before it, which might be the reason for what is wrong. */
  readonly isAlone?: boolean;
}

const WITH_RULES: readonly Mode[] = ['nftables', 'iptables', 'ipvs'];

/**
 * What has to meet to show something, and hardly ever does by chance: worlds end with these in turn, so that so many worlds have shown each.
 * What happened before does not depend on them, so that another one takes nothing away from what others show.
 */
export const LAST_ROUNDS: readonly LastRound[] = [
  {
    name: 'a Service changes during errors of the moment',
    modes: ['nftables', 'iptables'],
    steps: ['kernel-fault', 'program-fault'],
    begins: [['kernel-fault', 'program-fault'], ['put']],
    pauses: [20, 500, 8_000, 20_000],
    choices: {
      'kernel-fault': ['batches'],
      'program-fault': ['fails'],
      program: ['restore'],
      'exit code': ['4'],
      error: OF_THE_MOMENT,
      count: ['30', 'all'],
      times: ['12', 'all'],
      change: ['ports', 'type', 'all-moved', 'pod-replaced'],
    },
  },
  {
    name: 'virtual servers change during errors of the moment',
    modes: ['ipvs'],
    isAlone: true,
    steps: ['kernel-fault'],
    begins: [['kernel-fault'], ['put'], ['put']],
    pauses: [8_000, 20_000],
    choices: {
      'kernel-fault': ['virtual-servers'],
      error: OF_THE_MOMENT,
      count: ['all'],
      change: ['ports', 'type', 'all-moved', 'pod-replaced'],
    },
  },
  {
    name: 'others write after errors of the moment',
    modes: WITH_RULES,
    steps: ['foreign'],
    begins: [['kernel-fault', 'program-fault'], ['put']],
    isWithoutUsers: true,
    choices: {
      'kernel-fault': ['batches', 'virtual-servers'],
      'program-fault': ['fails'],
      program: ['restore'],
      'exit code': ['4'],
      error: OF_THE_MOMENT,
      count: ['1', '2'],
      times: ['1', '3'],
      foreign: ['flush-table', 'delete-table', 'iptables-flush-table', 'ipvsadm-clear'],
    },
  },
  {
    name: 'all is refused at a start after many Services have changed',
    modes: ['nftables'],
    steps: ['flows'],
    services: 4,
    begins: [['terminate'], ['kernel-fault'], ['put'], ['put'], ['put'], ['put'], ['put'], ['put'], ['put']],
    isWithoutUsers: true,
    otherServiceOneIn: 1,
    choices: {
      'kernel-fault': ['batches'],
      error: OF_RULES,
      count: ['30', 'all'],
      change: OF_RULES_OF_ALL_MODES,
      pause: ['10', '300'],
    },
  },
  {
    name: 'the last pods end',
    steps: ['put'],
    services: 3,
    begins: [['put'], ['put']],
    otherServiceOneIn: 100,
    choices: { pods: ['1'], change: ['pod-drains', 'pod-ages'] },
  },
  {
    name: 'others take something away that new Services need',
    modes: ['nftables'],
    isAlone: true,
    steps: ['put'],
    begins: [['put'], ['foreign'], ['put']],
    choices: {
      foreign: ['delete-rule', 'move-rule', 'flush-chain', 'delete-element', 'flush-set'],
      change: ['ports', 'type', 'all-moved', 'external-policy'],
    },
  },
  {
    name: 'watches do not last',
    steps: ['trouble'],
    begins: [['trouble']],
    isWithoutUsers: true,
    choices: { trouble: ['watches-end-at-once', 'server-errors', 'refused', 'too-many-requests'] },
  },
  {
    name: 'events are torn',
    steps: ['put', 'delete'],
    begins: [['trouble'], ['put'], ['put'], ['put']],
    otherServiceOneIn: 1,
    choices: { trouble: ['torn-events', 'torn-objects'] },
  },
  {
    name: 'nobody says that the way to the API server is gone',
    steps: ['put'],
    begins: [['trouble'], ['put']],
    choices: { trouble: ['watches-hang', 'half-open', 'new-watches-hang'] },
  },
  {
    name: 'the wall clock is set while something is to be done',
    steps: ['trouble', 'put'],
    begins: [['trouble', 'kernel-fault', 'program-fault'], ['clock'], ['put']],
    choices: { trouble: ['refused', 'too-many-requests'], error: OF_THE_MOMENT, 'exit code': ['4'] },
  },
  {
    name: 'the lock is held when it starts',
    modes: ['iptables', 'ipvs'],
    steps: ['program-fault'],
    begins: [['terminate'], ['program-fault']],
    choices: {
      pause: ['10', '300'],
      'program-fault': ['lock-held', 'fails'],
      program: ['iptables', 'ip6tables'],
      'exit code': ['4'],
      times: ['3', '12', 'all'],
    },
  },
  {
    name: 'the kernel is read while others write',
    modes: ['nftables'],
    steps: ['kernel-fault'],
    begins: [['foreign'], ['kernel-fault'], ['put']],
    choices: {
      'kernel-fault': ['commits'],
      foreign: ['delete-rule', 'delete-element', 'flush-set', 'flush-chain'],
    },
  },
  {
    name: 'a former version was there for a while',
    modes: ['nftables'],
    steps: ['put'],
    begins: [['former-version-again']],
  },
  {
    name: 'kube-proxy was there for a while, and not everything can be programmed or read',
    modes: ['nftables'],
    steps: ['put'],
    begins: [['go-back'], ['kernel-fault', 'tear'], ['put']],
    choices: { 'kernel-fault': ['service', 'batches'] },
  },
  {
    name: 'endpoints end that clients are remembered for',
    modes: ['nftables'],
    steps: ['flows'],
    begins: [['put'], ['flows'], ['put']],
    otherServiceOneIn: 100,
    choices: { change: ['affinity', 'no-pods', 'all-moved', 'pod-removed'] },
  },
  {
    name: 'a Service without endpoints here gets some and loses them',
    modes: ['iptables', 'ipvs'],
    steps: ['put'],
    begins: [['put'], ['put']],
    otherServiceOneIn: 100,
    choices: { change: ['no-pods', 'pod-added', 'external-policy'] },
  },
  {
    name: 'the Node gets other podCIDRs',
    argument: LOCAL_BY_NODE,
    steps: ['put'],
    begins: [['pod-networks'], ['put']],
    choices: { 'pod networks': ['changed', 'of-others'] },
  },
  {
    name: 'the Node gets its podCIDRs after the program has started',
    argument: LOCAL_BY_NODE,
    steps: ['put'],
    begins: [['terminate'], ['pod-networks'], ['put']],
    choices: { 'pod networks': ['late'], pause: ['10', '300'] },
  },
  {
    name: 'the Node is registered again',
    argument: LOCAL_BY_NODE,
    steps: ['put'],
    begins: [['pod-networks'], ['put']],
    choices: { 'pod networks': ['late'] },
  },
];

/** The same, for worlds that have none of the others. */
export const FURTHER_LAST_ROUNDS: readonly LastRound[] = [
  {
    name: 'the storage of the API server is restored',
    steps: ['put', 'delete'],
    begins: [['trouble'], ['put']],
    choices: { trouble: ['restored'] },
  },
  {
    name: 'API servers of different age come one after the other',
    steps: ['put', 'delete'],
    begins: [['trouble'], ['put']],
    choices: { trouble: ['rolling', 'internal-errors', 'gateway-timeouts'] },
  },
  {
    name: 'labels of Services and of the node change',
    steps: ['delete'],
    begins: [['relabel'], ['put'], ['relabel']],
    otherServiceOneIn: 4,
    choices: { relabel: ['service-given-away', 'service-taken-back', 'node-moved'] },
  },
  {
    name: 'labels of slices change',
    steps: ['flows'],
    begins: [['put'], ['relabel']],
    isWithoutUsers: true,
    otherServiceOneIn: 4,
    choices: { relabel: ['slices-astray', 'slices-unlabeled', 'slices-back'] },
  },
  {
    name: 'objects of nobody are not valid',
    steps: ['terminate'],
    begins: [['misconfigure'], ['put']],
    choices: { misconfigured: ['beside'] },
  },
  {
    name: 'objects of Services are not valid',
    steps: ['flows', 'terminate'],
    begins: [['put'], ['misconfigure']],
    isWithoutUsers: true,
    choices: { misconfigured: ['itself'] },
  },
  {
    name: 'service ranges change',
    modes: ['nftables'],
    steps: ['put'],
    begins: [['service-ranges'], ['put'], ['service-ranges']],
    choices: { 'service ranges': ['second', 'first-gone'] },
  },
  {
    name: 'it ends in the middle of something',
    steps: ['delete'],
    begins: [['interrupt'], ['put']],
    choices: { pause: ['10', '300', '2000'] },
  },
  {
    name: 'it ends while it starts',
    steps: ['put'],
    begins: [['restart', 'terminate'], ['interrupt'], ['put']],
    choices: { pause: ['10', '300'] },
  },
  {
    name: 'it ends while rules of a Service are refused',
    modes: WITH_RULES,
    steps: ['terminate'],
    begins: [['kernel-fault', 'program-fault'], ['put']],
    isWithoutUsers: true,
    otherServiceOneIn: 100,
    choices: {
      'kernel-fault': ['service', 'virtual-servers'],
      'program-fault': ['rules-refused', 'set-lines-refused'],
      error: ['EINVAL', 'ENOENT'],
      reason: ['Invalid argument'],
      count: ['all'],
      times: ['all'],
      change: ['ports', 'type', 'affinity', 'no-pods'],
      pause: ['300', '2000'],
    },
  },
  {
    name: 'others put rules in another order',
    modes: WITH_RULES,
    steps: ['foreign'],
    begins: [['put'], ['foreign'], ['put']],
    choices: { foreign: ['move-rule', 'iptables-move-rule', 'iptables-move-jump'] },
  },
  {
    name: 'the cache of an API server is behind what was seen',
    steps: ['put', 'delete', 'restart', 'kill'],
    begins: [['trouble'], ['put']],
    choices: { trouble: ['cache-behind'] },
  },
  {
    name: 'lists come in pages',
    steps: ['put', 'delete', 'restart'],
    begins: [['trouble'], ['put'], ['delete', 'put']],
    choices: { trouble: ['pages-expire', 'slow-pages'] },
  },
  {
    name: 'the Node is gone for a while',
    steps: ['put', 'terminate'],
    begins: [['node'], ['put']],
    choices: { node: ['object-deleted'] },
  },
  {
    name: 'slices are listed from a cache that is behind what was seen',
    modes: ['nftables'],
    steps: ['put'],
    begins: [['slices-behind'], ['put'], ['put']],
    otherServiceOneIn: 100,
    choices: { change: ['all-moved', 'pod-removed', 'no-pods'] },
  },
];
