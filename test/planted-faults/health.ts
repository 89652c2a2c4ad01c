import type { PlantedFault } from './fault.js';

const CHECKS = 'src/application/health/service-health-checks.ts';
const HEALTH = 'src/application/health/proxy-health.ts';
const LOCALHOST = 'src/application/localhost/localhost-node-ports.ts';
const HTTP = 'src/adapters/http/router.ts';

/** What the proxy itself answers: health checks, node ports on localhost, HTTP. */
export const HEALTH_FAULTS: readonly PlantedFault[] = [
  {
    name: 'no-health-check-port-ever-listens',
    file: CHECKS,
    original: '    if (!socket) return;\n',
    fault: '    if (socket) return;\n',
  },
  {
    name: 'health-checks-count-endpoints-of-other-nodes',
    file: 'src/domain/forwarding/forward-service.ts',
    original: 'endpoint.ready && endpoint.isLocal',
    fault: 'endpoint.ready',
  },
  {
    name: 'health-checks-succeed-without-endpoints',
    file: 'src/adapters/health/service-health-server.ts',
    original: 'localEndpoints > 0 && proxyHealthy',
    fault: 'proxyHealthy',
  },
  {
    name: 'unneeded-health-check-ports-stay-open',
    file: CHECKS,
    original: '    await this.open?.close();\n',
    fault: '',
  },
  {
    name: 'rejected-services-report-their-new-endpoints',
    file: CHECKS,
    original: 'new Set(programmed ? addresses : addresses.filter((address) => previous?.has(address))),',
    fault: 'new Set(addresses),',
  },
  {
    name: 'health-check-ports-that-are-taken-are-not-tried-again',
    file: CHECKS,
    original: '      this.retry = this.dependencies.clock.after(retryDelay(this.failures), again);\n',
    fault: '',
  },
  {
    name: 'two-ports-count-an-endpoint-twice',
    file: CHECKS,
    original: 'return new Set([...this.ready.values()].flatMap((addresses) => [...addresses])).size;',
    fault: 'return [...this.ready.values()].flatMap((addresses) => [...addresses]).length;',
  },
  {
    name: 'healthz-is-always-good',
    file: 'src/adapters/health/health-server.ts',
    original: 'verdict.healthy && verdict.nodeEligible ? 200 : 503',
    fault: '200',
  },
  {
    name: 'nodes-that-the-autoscaler-removes-stay-eligible',
    file: 'src/domain/decode/read-node.ts',
    original: 'draining: deleting || taints.some(({ key }) => key === AUTOSCALER_TAINT),',
    fault: 'draining: deleting,',
  },
  {
    name: 'syncs-that-hang-are-healthy',
    file: HEALTH,
    original: '    state.oldestDequeued ??= state.oldestPending;\n',
    fault: '',
  },
  {
    name: 'watches-without-data-are-fresh',
    file: HEALTH,
    original: 'if (silence < (connected ? LONGEST_SILENCE : LONGEST_GAP)) return undefined;',
    fault: 'if (silence >= 0) return undefined;',
  },
  {
    name: 'ready-before-everything-is-listed',
    file: 'src/application/health/readiness.ts',
    original: 'this.missing().map((kind) => `${kind} not listed yet`),',
    fault: '[],',
  },
  {
    name: 'ready-while-services-fail',
    file: 'src/application/health/readiness.ts',
    original: '.filter(({ lasts }) => lasts > LONGEST_FAILURE)',
    fault: '.filter(({ lasts }) => lasts < 0)',
  },
  {
    name: 'no-node-port-listens-on-localhost',
    file: LOCALHOST,
    original: 'else if (!this.retry) await this.listen(wanted);',
    fault: 'else if (this.retry) await this.listen(wanted);',
    modes: ['nftables'],
  },
  {
    name: 'unneeded-listeners-on-localhost-stay-open',
    file: LOCALHOST,
    original: '      await open?.close();\n',
    fault: '',
    modes: ['nftables'],
  },
  {
    name: 'listeners-on-localhost-keep-their-first-endpoints',
    file: LOCALHOST,
    original: 'else if (open) open.serve(wanted);',
    fault: 'else if (open) void wanted;',
    modes: ['nftables'],
  },
  {
    name: 'listeners-on-localhost-ignore-policy-local',
    file: 'src/domain/forwarding/localhost-node-port.ts',
    original: "frontend.policy === 'Local' ? local : cluster",
    fault: 'cluster',
    modes: ['nftables'],
  },
  {
    name: 'solved-problems-of-localhost-stay-reported',
    file: LOCALHOST,
    original: '    if (this.reported !== undefined) this.dependencies.report(this.reported, undefined);\n',
    fault: '',
    modes: ['nftables'],
  },
  {
    name: 'read-only-routes-take-every-method',
    file: HTTP,
    original: "if (query.method === 'GET' || query.method === 'HEAD') return",
    fault: "if (query.method !== '') return",
  },
  {
    name: 'local-routes-answer-everybody',
    file: HTTP,
    original: 'if (isOverLoopback(query.request.socket)) return',
    fault: 'if (query.request.socket) return',
  },
  {
    name: 'any-host-name-is-accepted',
    file: HTTP,
    original: '(known.has(host) || parseAddress(host))',
    fault: "host !== ''",
  },
  {
    name: 'one-client-may-take-all-connections',
    file: 'src/adapters/http/connection-guard.ts',
    original: ' && (this.sources.get(source)?.size ?? 0) < this.mostOfSource;',
    fault: ';',
  },
  {
    name: 'busy-connections-are-ended-for-new-ones',
    file: 'src/adapters/http/connection-guard.ts',
    original: '      if (requests > 0) continue;\n',
    fault: '',
  },
];
