import type { Mode, PlantedFault } from './fault.js';

const MODES: readonly Mode[] = ['iptables'];
const PLACE = {
  script: 'src/adapters/iptables/change-script.ts',
  difference: 'src/adapters/iptables/tables-difference.ts',
  endpoints: 'src/domain/iptables/endpoint-chains.ts',
  chains: 'src/domain/iptables/service-chains.ts',
  entries: 'src/domain/iptables/compile.ts',
};

/** The rules of iptables mode and how they are written. */
export const IPTABLES_FAULTS: readonly PlantedFault[] = [
  {
    name: 'weights-are-counted-once',
    file: PLACE.endpoints,
    original: '    left -= weight;\n',
    fault: '    left -= 1;\n',
  },
  {
    name: 'rejections-end-before-there-are-rules',
    file: PLACE.script,
    original:
      "    for (const table of ['mangle', REJECTING, OWNED_TABLE] as const) yield* writer.write(table, lines);\n    yield* writer.endRejecting(lines);\n",
    fault:
      "    yield* writer.endRejecting(lines);\n    for (const table of ['mangle', REJECTING, OWNED_TABLE] as const) yield* writer.write(table, lines);\n",
  },
  {
    name: 'rules-go-before-there-is-a-rejection',
    file: PLACE.script,
    original: "for (const table of ['mangle', REJECTING, OWNED_TABLE] as const)",
    fault: "for (const table of ['mangle', OWNED_TABLE, REJECTING] as const)",
  },
  {
    name: 'hairpin-chains-without-their-mark',
    file: PLACE.endpoints,
    original: '    ruleText({ source: from(address, family), matches: because, target: MARK_MASQ }),\n',
    fault: '',
  },
  {
    name: 'every-connection-to-the-first-endpoint',
    file: PLACE.endpoints,
    original: 'isLast ? []',
    fault: 'left > 0 ? []',
  },
  {
    name: 'outsiders-at-cluster-ips-are-not-masqueraded',
    file: PLACE.chains,
    original: 'return masqueraded ? [this.masqueradeRule(masqueraded), ...choice] : choice;',
    fault: 'return choice;',
  },
  {
    name: 'origin-without-endpoints',
    file: PLACE.chains,
    original:
      '    for (const endpoint of list) parts.push(`${endpointPlace(endpoint)} ${weightOf(endpoint)}`);\n',
    fault: '',
  },
  {
    name: 'rejections-of-the-other-family',
    file: PLACE.entries,
    original: "${family === 'IPv4' ? 'icmp' : 'icmp6'}-port-unreachable",
    fault: 'icmp-port-unreachable',
  },
  {
    name: 'restricted-addresses-lead-past-their-firewall',
    file: PLACE.entries,
    original: "isLoadBalancer && terms.restrictsSources ? 'FW' : 'EXT'",
    fault: "'EXT'",
  },
  {
    name: 'refused-lines-are-temporary',
    file: 'src/adapters/iptables/restore-failures.ts',
    original: 'exitCode === RESOURCE_PROBLEM && namesKernelsReason(messages);',
    fault: 'false;',
  },
  {
    name: 'repair-leaves-surplus-rules',
    file: PLACE.difference,
    original: "      if (this.isEarly(rule) === (when === 'early')) lines.delete(table, name, rule);\n",
    fault: "      if (this.isEarly(rule) && when === 'early') lines.delete(table, name, rule);\n",
  },
  {
    name: 'rules-of-chains-in-any-order',
    file: 'src/domain/iptables/desired-state.ts',
    original: '  return isEqual(rules, actual);\n',
    fault: '  return sameRules(rules, actual);\n',
  },
  {
    name: 'rejections-end-early-beside-others',
    file: PLACE.script,
    original: 'one.entry.table === REJECTING && !this.isRewritten(one);',
    fault:
      'one.entry.table === REJECTING && !this.added.some(({ entry }) => entry.chain === one.entry.chain);',
  },
  {
    name: 'drops-before-rejections-end',
    file: PLACE.script,
    original: 'mayWait(one) && comesLate(one)',
    fault: 'false',
  },
  {
    name: 'repair-rejects-last',
    file: PLACE.difference,
    original: `    for (const { chain, single } of this.shared)
      if (chain.table === REJECTING && single) this.takeSteps(chain, single, 'early', lines);
    lines.commit();
    for (const table of this.tables) yield* this.repairTable(table, lines);
`,
    fault: `    for (const table of this.tables) yield* this.repairTable(table, lines);
    for (const { chain, single } of this.shared)
      if (chain.table === REJECTING && single) this.takeSteps(chain, single, 'early', lines);
    lines.commit();
`,
  },
  {
    name: 'affinity-never-ends',
    file: PLACE.endpoints,
    original: '-m recent --rcheck --seconds ${seconds} --reap',
    fault: '-m recent --rcheck',
  },
  {
    name: 'load-balancers-let-everyone-in',
    file: PLACE.entries,
    original:
      "        this.place('filter', PROXY_FIREWALL, frontend, { matches: [reason], target: 'DROP' });\n",
    fault: '',
  },
  {
    name: 'services-without-endpoints-drop',
    file: PLACE.entries,
    original: "target: endpoints.hasAny ? 'DROP' : reject,",
    fault: "target: 'DROP',",
  },
  {
    name: 'health-check-ports-are-not-accepted',
    file: PLACE.entries,
    original: "    this.entries.push({ table: 'filter', chain: NODE_PORTS, rule });\n",
    fault: '',
  },
  {
    name: 'marks-stay-on-packets',
    file: 'src/domain/iptables/base-rules.ts',
    original: '    ruleText({ target: `MARK --set-xmark ${mark}/0x0` }),\n',
    fault: '',
  },
  {
    name: 'the-node-itself-is-not-served-by-local-services',
    file: PLACE.chains,
    original:
      "        matches: [...because('route LOCAL traffic for $ external destinations'), LOCAL_SOURCE],\n        target: everywhere,\n",
    fault:
      "        matches: [...because('route LOCAL traffic for $ external destinations'), LOCAL_SOURCE],\n        target: MARK_MASQ,\n",
  },
  {
    name: 'busy-locks-are-not-awaited',
    file: 'src/adapters/iptables/iptables-tool.ts',
    original: '        if (seconds() >= limitSeconds) return',
    fault: '        if (seconds() >= 0) return',
  },
  {
    name: 'restoring-flushes-the-rules-of-others',
    file: 'src/adapters/iptables/iptables-tool.ts',
    original: "...waiting(version), '--noflush', '--counters'];",
    fault: "...waiting(version), '--counters'];",
  },
].map((fault) => ({ ...fault, modes: MODES }));
