import type { PlantedFault } from './fault.js';

/** In what the program makes of objects: src/domain/decode, selection, state, forwarding. */
export const MODEL_FAULTS: readonly PlantedFault[] = [
  {
    name: 'terminating-endpoints-preferred',
    file: 'src/domain/select-endpoints.ts',
    original: '  return ready.length > 0 ? ready : subset(all, drains);',
    fault: '  const draining = subset(all, drains);\n  return draining.length > 0 ? draining : ready;',
  },
  {
    name: 'dead-endpoints-drain',
    file: 'src/domain/select-endpoints.ts',
    original: '  return endpoint.serving && endpoint.terminating;',
    fault: '  return endpoint.terminating;',
  },
  {
    name: 'endpoints-of-weight-0-are-chosen',
    file: 'src/domain/select-endpoints.ts',
    original: '(count, length) => count < length)',
    fault: '(count, length) => count < length - 1)',
  },
  {
    name: 'ejected-endpoints-stay-ejected',
    file: 'src/domain/failover/port-failover.ts',
    original: 'if (!answered && now < until) continue;',
    fault: 'if (!answered) continue;',
    modes: ['nftables', 'iptables', 'ipvs'],
  },
  {
    name: 'one-zone-hint-decides',
    file: 'src/domain/select-endpoints.ts',
    original: '      if (hints(endpoint).length === 0) return false;',
    fault: '      if (hints(endpoint).length === 0) continue;',
  },
  {
    name: 'external-policy-is-the-internal-one',
    file: 'src/domain/forwarding/forward-service.ts',
    original: 'trafficOf(endpoints, externalPolicyLocal),',
    fault: 'trafficOf(endpoints, internalPolicyLocal),',
    modes: ['nftables', 'iptables', 'ipvs'],
  },
  {
    name: 'ports-by-protocol-alone',
    file: 'src/domain/state/cluster-state.ts',
    original: 'each.name === port && each.protocol === protocol',
    fault: 'each.protocol === protocol',
  },
  {
    name: 'second-family-forgotten',
    file: 'src/domain/state/cluster-state.ts',
    original:
      '  return IP_FAMILIES.filter((family) =>\n    versions.some((service) => service?.clusterIPs[family] !== undefined),\n  );',
    fault:
      '  const found = IP_FAMILIES.find((family) =>\n    versions.some((service) => service?.clusterIPs[family] !== undefined),\n  );\n  return found ? [found] : [];',
  },
  {
    name: 'only-changed-ports-count',
    file: 'src/domain/state/cluster-state.ts',
    original: 'if (isEqual(previous, service)) return [];',
    fault: 'if (isEqual(previous?.ports, service.ports)) return [];',
  },
  {
    name: 'equal-without-serving',
    file: 'src/domain/model/endpoint.ts',
    original: '    one.serving === other.serving &&\n',
    fault: '',
  },
  {
    name: 'unready-endpoints-serve',
    file: 'src/domain/decode/read-endpoint-slice.ts',
    original: "ready: booleanField(conditions.ready, '.conditions.ready') !== false,",
    fault: "ready: booleanField(conditions.serving, '.conditions.ready') !== false,",
  },
  {
    name: 'podCIDRs-are-lost-when-the-node-is-registered-again',
    file: 'src/application/use-cases/node-handler.ts',
    original: '      ...(lostCIDRs && { podCIDRs: previous.podCIDRs }),\n',
    fault: '',
    modes: ['nftables', 'iptables'],
  },
  {
    name: 'changed-podCIDRs-pass-unnoticed',
    file: 'src/application/use-cases/node-handler.ts',
    original: 'if (onlyDrainingDiffers(previous, node)) return;',
    fault: 'if (onlyDrainingDiffers(previous, { ...node, podCIDRs: previous.podCIDRs })) return;',
    modes: ['nftables', 'iptables'],
  },
  {
    name: 'invalid-services-go',
    file: 'src/application/use-cases/service-handler.ts',
    original: 'if (service === undefined) observer.serviceEvent(name, false);',
    fault: 'if (service === undefined) this.onServiceDelete(name);',
  },
  {
    name: 'changed-service-ranges-pass-unnoticed',
    file: 'src/application/use-cases/service-handler.ts',
    original: 'if (value && state.applyServiceCidr(value)) this.changed();',
    fault: 'if (value) state.applyServiceCidr(value);',
    modes: ['nftables'],
  },
  {
    name: 'former-frontends-stay',
    file: 'src/domain/reconcile/owned-parts.ts',
    original: '    for (const part of former.values()) this.release({ owner, part }, switched);\n',
    fault: '',
    modes: ['nftables'],
  },
  {
    name: 'nobody-holds-after-a-conflict',
    file: 'src/domain/reconcile/claims.ts',
    original: 'this.claimantsOf.set(id, claimants.first!);',
    fault: 'this.claimantsOf.delete(id);',
    modes: ['nftables', 'iptables', 'ipvs'],
  },
];
