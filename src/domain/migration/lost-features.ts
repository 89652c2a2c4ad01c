import { methodOfScheduler } from '../balancing/balancing.js';
import type { IpvsSettings, ProxyDaemonSet } from './proxy-daemon-set.js';

const NONE: IpvsSettings = { timeouts: [] };

/** What a node in mode ipvs makes use of, for people: of its configuration, and of its virtual servers. */
export function usedFeatures(
  from: ProxyDaemonSet | undefined,
  schedulers: readonly string[],
): readonly string[] {
  const { scheduler, excludeCIDRs = [], strictARP, timeouts } = from?.mode === 'ipvs' ? from.ipvs : NONE;
  const all = [...new Set([...(scheduler ? [scheduler] : []), ...schedulers])];
  return [
    ...(all.length > 0 ? [`schedulers ${all.join(' ')}`] : []),
    ...(excludeCIDRs.length > 0 ? [`excludeCIDRs ${excludeCIDRs.join(' ')}`] : []),
    ...(strictARP ? ['strictARP'] : []),
    ...timeouts,
  ];
}

/** What a node has that another mode, or kube-proxy, does not do, for people. */
export function lostFeatures(
  from: ProxyDaemonSet | undefined,
  target: Pick<ProxyDaemonSet, 'program' | 'mode'>,
  schedulers: readonly string[],
): readonly string[] {
  const isIpvs = target.mode === 'ipvs';
  const asked =
    target.program === 'kube-proxy'
      ? schedulers.map(
          (name) => `the scheduler ${name} of Services: kube-proxy does not read their annotations`,
        )
      : isIpvs
        ? []
        : schedulers
            .filter((name) => target.mode !== 'nftables' || methodOfScheduler(name) === undefined)
            .map((name) => `the scheduler ${name} of Services: mode ${target.mode} chooses at random`);
  if (!from || from.mode !== 'ipvs' || isIpvs) return asked;
  return [...configured(from.ipvs, target.mode), ...asked];
}

function configured(
  { scheduler, excludeCIDRs = [], strictARP, timeouts }: IpvsSettings,
  mode: string,
): readonly string[] {
  return [
    ...(scheduler ? [`the scheduler ${scheduler} of the configuration: mode ${mode} chooses at random`] : []),
    ...(excludeCIDRs.length > 0
      ? [`excludeCIDRs ${excludeCIDRs.join(', ')}: only mode ipvs, and the removal of its rules, heed it`]
      : []),
    ...(strictARP ? [`strictARP: what it set stays until the node restarts, and is not set again`] : []),
    ...timeouts.map((timeout) => `${timeout}: the kernel's timeouts of connection tracking count instead`),
  ];
}

/** Why the target must not be started: it would remove virtual servers that are none of a proxy's. */
export function unprotected(
  from: ProxyDaemonSet | undefined,
  target: ProxyDaemonSet | undefined,
): string | undefined {
  if (!from || !target || from.mode !== 'ipvs') return undefined;
  const kept = new Set(target.ipvs.excludeCIDRs);
  const missing = (from.ipvs.excludeCIDRs ?? []).filter((cidr) => !kept.has(cidr));
  if (missing.length === 0) return undefined;
  return `the configuration of the DaemonSet ${target.name} lacks ipvs.excludeCIDRs ${missing.join(', ')}: it would remove virtual servers of others there`;
}
