import type { Scrape } from '../../adapters/metrics/prometheus-metrics.js';
import {
  showEjections,
  showIgnoredObjects,
  showServicePorts,
  showSlots,
  showSources,
  showTraffic,
} from '../../adapters/metrics/scrapes.js';
import type { ProxyParts } from '../parts/proxy-parts.js';

/** Gauges that are looked up each time the metrics are read. */
export function scrapeGauges(parts: ProxyParts): Scrape {
  const {
    mode,
    served,
    statuses,
    reports,
    syncHistory,
    source,
    live,
    trafficMetrics,
    ejection,
    families,
    clock,
  } = parts;
  return (own) => {
    for (const { loop } of served) {
      showServicePorts(own, loop, statuses);
      if (mode.name === 'nftables') showSlots(own, loop.family, loop.table.slots);
      own.set('synced', { ip_family: loop.family }, syncHistory.of(loop.family).lastSuccess ? 1 : 0);
    }
    showIgnoredObjects(own, reports.ignoredByKind);
    showSources(own, source.status(), clock.now());
    if (ejection) showEjections(own, ejection, families);
    if (trafficMetrics) showTraffic(own, trafficMetrics.values());
    own.set('configurationRefused', {}, live.problem === undefined ? 0 : 1);
  };
}
