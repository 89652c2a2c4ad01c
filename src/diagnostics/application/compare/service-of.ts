import { parseDisplayName, serviceOf as keyOfService } from '../../../domain/model/service-port-name.js';
import type { TracedEnding } from '../../domain/trace/trace.js';

/** Chains of kube-proxy in mode nftables: `service-HASH-namespace/name/protocol/port`. */
const CHAIN = /\b(?:service|external|firewall|local|endpoint)-[A-Z0-9]{8}-([a-z0-9-]+\/[a-z0-9.-]+)\//;
/** The beginning of a comment of kube-proxy: `namespace/name:port …`. */
const COMMENT = /--comment "([a-z0-9-]+\/[a-z0-9.-]+)[: "]/;

/** The Service that rules on the way name; undefined if they name none. */
export function serviceOf(endings: readonly TracedEnding[]): string | undefined {
  for (const { servicePort } of endings) if (servicePort !== undefined) return serviceIn(servicePort);
  for (const { steps } of endings)
    for (const { servicePort } of steps) if (servicePort !== undefined) return serviceIn(servicePort);
  for (const { steps } of endings)
    for (const { where, rule, effect } of steps) {
      const [, name] = CHAIN.exec(`${where} ${effect} ${rule}`) ?? COMMENT.exec(rule) ?? [];
      if (name !== undefined) return name;
    }
  return undefined;
}

/** Of `namespace/name:port` or `namespace/name/protocol/port`. */
function serviceIn(servicePort: string): string {
  return keyOfService(parseDisplayName(servicePort).service);
}
