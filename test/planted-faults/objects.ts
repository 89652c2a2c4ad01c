import { IN_KERNEL, type PlantedFault } from './fault.js';

const SLICE = 'src/domain/decode/read-endpoint-slice.ts';
const SERVICE = 'src/domain/decode/read-service.ts';

/** The reading and selection of objects: src/domain/decode, state, reconcile, and their handlers. */
export const OBJECT_FAULTS: readonly PlantedFault[] = [
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
    modes: IN_KERNEL,
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
    modes: IN_KERNEL,
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
    modes: IN_KERNEL,
  },
  {
    name: 'every-endpoint-with-a-node-is-local',
    file: SLICE,
    original: "isLocal: nodeName === ownNode && nodeName !== '',",
    fault: "isLocal: nodeName !== '',",
  },
  {
    name: 'addresses-that-are-not-ready-serve',
    file: SLICE,
    original: '      ready,\n      serving: ready,\n',
    fault: '      ready: true,\n      serving: true,\n',
  },
  {
    name: 'usual-affinity-lasts-three-minutes',
    file: SERVICE,
    original: 'DEFAULT_AFFINITY_SECONDS = 10800;',
    fault: 'DEFAULT_AFFINITY_SECONDS = 180;',
    modes: IN_KERNEL,
  },
  {
    name: 'load-balancers-of-mode-proxy-are-served',
    file: SERVICE,
    original: "const isVip = ipMode === undefined || ipMode === null || ipMode === 'VIP';",
    fault: 'const isVip = true;',
  },
  {
    name: 'services-of-other-proxies-are-served',
    file: SERVICE,
    original: "  if (hasLabel(metadata, SERVICE_PROXY_NAME_LABEL)) return 'other-proxy';\n",
    fault: '',
  },
  {
    name: 'node-ports-are-lost',
    file: SERVICE,
    original: 'nodePort: integerField(port.nodePort ?? 0,',
    fault: 'nodePort: integerField(0,',
  },
  {
    name: 'ranges-that-contain-all-do-not-open',
    file: SERVICE,
    original: 'return subset(ranges, ({ family }) => !open.has(family));',
    fault: 'return subset(ranges, ({ prefixLength }) => prefixLength > 0);',
    modes: IN_KERNEL,
  },
  {
    name: 'slices-stay-with-their-former-service',
    file: 'src/domain/state/cluster-state.ts',
    original: '      changes.push(...this.removeSlice(slice.namespace, slice.name));\n',
    fault: '      void changes;\n',
  },
  {
    name: 'slices-without-a-label-stay',
    file: 'src/domain/state/cluster-state.ts',
    original:
      '    const changes = this.removeSlice(namespace, name);\n    this.owners.set(serviceKey(namespace, name), undefined);\n    return changes;\n',
    fault: '    return [];\n',
  },
  {
    name: 'shorter-endpoints-objects-keep-their-endpoints',
    file: 'src/application/use-cases/endpoint-slice-handler.ts',
    original: '    this.removeOthers(key, names);\n',
    fault: '',
  },
  {
    name: 'services-with-too-many-frontends-are-served',
    file: SERVICE,
    original: 'if (frontends <= limit) return undefined;',
    fault: 'if (frontends > 0) return undefined;',
  },
  {
    name: 'changed-nodes-pass-unnoticed',
    file: 'src/application/use-cases/node-handler.ts',
    original: '    if (isChanged) this.parts.nodeChanged(node);\n',
    fault: '',
  },
];
