import { conflict, conflictOutcome, conflictVerdict } from '../../../src/domain/verdict/conflicts.js';
import * as sentences from '../../../src/domain/verdict/sentences.js';
import type { Verdict } from '../../../src/domain/verdict/verdict.js';

const SHOP = { namespace: 'shop', name: 'web', selector: 'app=web' };
/** Without a selector: its endpoints are all that there is. */
const BARE = { namespace: 'shop', name: 'web', selector: undefined };
const SLICES = 'kubectl -n shop describe endpointslices -l kubernetes.io/service-name=web';
const PROXY = 'check the proxy of the node: kubeproxy status';
const EDIT = 'kubectl -n shop edit service web';
const POD_AT = 'kubectl get pods -A -o wide --field-selector status.podIP=';

const tcp = (port: string) => ({ port, protocol: 'TCP' }) as const;
const silent = (octet: number, unansweredConnections?: number, pod?: string) => ({
  address: `10.1.0.${octet}`,
  port: 80,
  pod,
  unansweredConnections,
});
const held = (number: number, portName?: string) => ({
  frontend: `10.96.0.${number}:53/UDP`,
  owner: 'shop/dns',
  portName,
});

/** Each verdict, and all that a command shows of it: the state, the cause, the sentence, and what to do next. */
const VERDICTS: readonly (readonly [Verdict, string, string?])[] = [
  [
    sentences.programmingFailed('no SCTP', 'mode'),
    'error NotSupportedByMode: this mode of the proxy does not support it: no SCTP',
    'use another mode of the proxy, or change the Service: kubeproxy status shows the mode',
  ],
  [
    sentences.programmingFailed('EINVAL', 'node'),
    'error ProgrammingFailed: it cannot be programmed on the node: EINVAL',
    PROXY,
  ],
  [
    sentences.removalFailed('EBUSY'),
    'error ProgrammingFailed: a port that it no longer has cannot be removed: EBUSY',
    PROXY,
  ],
  [
    sentences.pending(),
    'warning Pending: its last change is not programmed yet',
    'wait for the next sync: kubeproxy status',
  ],
  [
    sentences.familyNotServed(['IPv6'], ['IPv4']),
    'warning FamilyNotServed: its cluster IP is IPv6, and this node serves IPv4',
    'check the IP families of the cluster and of this node: kubeproxy status',
  ],
  [
    sentences.familyNotServed(['IPv4', 'IPv6'], ['IPv4', 'IPv6']),
    'warning FamilyNotServed: its cluster IP is IPv4, IPv6, and this node serves IPv4, IPv6',
    'check the IP families of the cluster and of this node: kubeproxy status',
  ],
  [
    sentences.unreadObjects(['a.yaml:7: broken', 'b.yaml']),
    'warning UnreadObjects: it has no EndpointSlice, but an unreadable object may contain one (first: a.yaml:7: broken); its rules from before the start stay until all objects are readable',
    'correct the objects that cannot be read: kubeproxy status lists them',
  ],
  [
    sentences.limited(SHOP, ['no scheduler mh', 'too many slots']),
    'warning LimitedProgramming: no scheduler mh; too many slots',
    'compare with the Service: kubectl -n shop get service web -o yaml',
  ],
  [
    sentences.kernelObstacle('not-forwarded', 'ip_forward is 0'),
    'error ForwardingDisabled: ip_forward is 0',
    'switch on forwarding on the node: sysctl -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1',
  ],
  [
    sentences.kernelObstacle('bridged', 'bridge-nf-call-iptables is 0'),
    'error BridgeNotFiltered: bridge-nf-call-iptables is 0',
    'filter bridged packets on the node: modprobe br_netfilter',
  ],
  [
    sentences.blocked('10.1.0.9', '10.96.0.1:80', 'drop', 'chain FORWARD'),
    'error BlockedByOtherRules: packets from 10.1.0.9 to 10.96.0.1:80 are stopped (drop): chain FORWARD',
    'trace such a packet: kubeproxy trace --kernel --from 10.1.0.9 --to 10.96.0.1:80',
  ],
  [
    sentences.notReachable('10.1.0.9:80', 'no route'),
    'error EndpointNotReachable: this node cannot reach endpoint 10.1.0.9:80: no route',
    `check the route and the pod: ${POD_AT}10.1.0.9`,
  ],
  [
    sentences.notReachable('[fd00::9]:80', 'no route'),
    'error EndpointNotReachable: this node cannot reach endpoint [fd00::9]:80: no route',
    `check the route and the pod: ${POD_AT}fd00::9`,
  ],
  [
    sentences.noSlices(BARE),
    'error NoEndpointSlice: it has no selector, and no EndpointSlice has the label kubernetes.io/service-name=web',
    'add a selector, or an EndpointSlice with this label: kubectl -n shop get endpointslices --show-labels',
  ],
  [
    sentences.noSlices(SHOP),
    'error NoEndpointSlice: no EndpointSlice has the label kubernetes.io/service-name=web',
    'check that kube-controller-manager runs: kubectl -n kube-system get pods',
  ],
  [
    sentences.otherFamily(SHOP, ['IPv6', 'IPv4'], 'IPv4'),
    'error OtherFamily: all its EndpointSlices are IPv6, IPv4, and its cluster IP is IPv4',
    `compare the address types: ${SLICES}`,
  ],
  [
    sentences.noSuchTargetPort(SHOP, 'http'),
    'error NoSuchTargetPort: no pod has a port named http, the targetPort of the Service',
    'compare with the ports of the pods: kubectl -n shop describe pods -l app=web',
  ],
  [
    sentences.noSuchTargetPort(BARE, 'http'),
    'error NoSuchTargetPort: no pod has a port named http, the targetPort of the Service',
    `compare with the ports of the pods: ${SLICES}`,
  ],
  [
    sentences.noSuchPort(SHOP, tcp('a'), []),
    'error NoSuchPort: its EndpointSlices have no port',
    `add the port to the EndpointSlices: ${SLICES}`,
  ],
  [
    sentences.noSuchPort(SHOP, tcp('a'), [tcp('c'), tcp('b'), tcp('c'), { port: 'd', protocol: 'UDP' }]),
    'error NoSuchPort: no EndpointSlice has a port named a (they have: b, c, d for UDP)',
    `compare the port names: ${SLICES}`,
  ],
  [
    sentences.noSuchPort(SHOP, tcp(''), [tcp('b')]),
    'error NoSuchPort: no EndpointSlice has a port without a name (they have: b)',
    `compare the port names: ${SLICES}`,
  ],
  [
    sentences.noSuchPort(SHOP, tcp(''), [{ port: '', protocol: 'UDP' }, tcp('b')]),
    'error OtherProtocol: no EndpointSlice has a port without a name for TCP (they have: b, one without a name for UDP)',
    `compare the protocols: ${SLICES}`,
  ],
  [
    sentences.noEndpoint(BARE),
    'error NoEndpoint: its EndpointSlices list no endpoint, and it has no selector',
    `add endpoints to the EndpointSlices: ${SLICES}`,
  ],
  [
    sentences.noEndpoint(SHOP),
    'error NoPodSelected: no pod has the labels app=web',
    'check the selector: kubectl -n shop get pods -l app=web --show-labels',
  ],
  [
    sentences.allTerminating(SHOP, 1),
    'error AllTerminating: the only endpoint is terminating and no longer serves',
    'check why no pod takes over: kubectl -n shop get pods -l app=web',
  ],
  [
    sentences.allTerminating(BARE, 2),
    'error AllTerminating: all 2 endpoints are terminating and no longer serve',
    `check why no pod takes over: ${SLICES}`,
  ],
  [
    sentences.noneReady(SHOP, 1, 0),
    'error NoReadyEndpoint: 0 of 1 endpoint is ready',
    'check the readiness probes: kubectl -n shop describe pods -l app=web',
  ],
  [
    sentences.noneReady(BARE, 3, 1),
    'error NoReadyEndpoint: 0 of 3 endpoints are ready, and 1 is terminating',
    `check the readiness probes: ${SLICES}`,
  ],
  [
    sentences.noneReady(SHOP, 3, 2),
    'error NoReadyEndpoint: 0 of 3 endpoints are ready, and 2 are terminating',
    'check the readiness probes: kubectl -n shop describe pods -l app=web',
  ],
  [
    sentences.onlyTerminating(SHOP, 1),
    'warning OnlyTerminating: no endpoint is ready; traffic goes to 1 terminating endpoint that still serves',
    'check why no pod takes over: kubectl -n shop get pods -l app=web',
  ],
  [
    sentences.onlyTerminating(SHOP, 2),
    'warning OnlyTerminating: no endpoint is ready; traffic goes to 2 terminating endpoints that still serve',
    'check why no pod takes over: kubectl -n shop get pods -l app=web',
  ],
  [
    sentences.noLocalEndpoint(SHOP, true),
    'error NoLocalEndpoint: internalTrafficPolicy is Local and no endpoint on the node is ready: packets from clients on the node are dropped',
    `run a pod on every node, or set internalTrafficPolicy to Cluster: ${EDIT}`,
  ],
  [
    sentences.noLocalEndpoint(SHOP, false),
    'ok NoLocalEndpoint: externalTrafficPolicy is Local and no endpoint on the node is ready: the node drops packets from outside the cluster, so load balancers use other nodes',
  ],
  [
    sentences.otherZones(1, [], ''),
    'ok OtherZones: 1 ready endpoint is hinted for other nodes, and the node is in zone (none)',
  ],
  [
    sentences.otherZones(2, ['b', 'c'], 'a'),
    'ok OtherZones: 2 ready endpoints are hinted for zone b, c, and the node is in zone a',
  ],
  [
    sentences.unresponsive('shop', [silent(1, 1, 'web-1')], 1),
    'warning UnresponsiveEndpoint: 1 of 1 ready endpoint does not answer: pod web-1 (10.1.0.1:80), 1 connection without an answer',
    'check the pod of the endpoint: kubectl -n shop describe pod web-1',
  ],
  [
    sentences.unresponsive('shop', [silent(1), silent(2, 2), silent(3), silent(4)], 5),
    'warning UnresponsiveEndpoint: 4 of 5 ready endpoints do not answer: 10.1.0.1:80; 10.1.0.2:80, 2 connections without an answer; 10.1.0.3:80; 1 more',
    `check the pod of the endpoint: ${POD_AT}10.1.0.1`,
  ],
  [
    sentences.unresponsive('shop', [silent(1), silent(2), silent(3)], 3),
    'warning UnresponsiveEndpoint: 3 of 3 ready endpoints do not answer: 10.1.0.1:80; 10.1.0.2:80; 10.1.0.3:80',
    `check the pod of the endpoint: ${POD_AT}10.1.0.1`,
  ],
  [sentences.healthy(1, 1), 'ok: 1 of 1 endpoint is ready'],
  [sentences.healthy(2, 3), 'ok: 2 of 3 endpoints are ready'],
  [
    sentences.ignoredPart('Service shop/web', 'x is no scheduler', true),
    'warning AnnotationIgnored: x is no scheduler',
    `correct the annotation: ${EDIT}`,
  ],
  [
    sentences.ignoredPart('EndpointSlice shop/web-abcde', 'endpoints[1] has no address', false),
    'warning FieldIgnored: EndpointSlice shop/web-abcde: endpoints[1] has no address',
    'correct the field: kubectl -n shop edit endpointslice web-abcde',
  ],
  [
    sentences.invalidObject('Service shop/web', 'no port', false),
    'error InvalidObject: it is invalid and ignored: no port',
    `correct the object: ${EDIT}`,
  ],
  [
    sentences.invalidObject('Service shop/web', 'no port', true),
    'error InvalidObject: it is invalid and ignored: no port; its last valid version stays in use',
    `correct the object: ${EDIT}`,
  ],
  [
    sentences.invalidObject('EndpointSlice shop/web-abcde', 'no type', true),
    'error InvalidObject: EndpointSlice shop/web-abcde is invalid and ignored: no type',
    'correct the object: kubectl -n shop edit endpointslice web-abcde',
  ],
  [
    sentences.notProxied('headless'),
    'ok Headless: it is headless (clusterIP None): its name resolves to its pods, and no proxy is needed',
  ],
  [
    sentences.notProxied('external-name'),
    'ok ExternalName: its type is ExternalName: its name resolves to another name, and no proxy is needed',
  ],
  [
    sentences.notProxied('other-proxy'),
    'ok OtherProxy: its label service.kubernetes.io/service-proxy-name gives it to another proxy',
  ],
  [
    sentences.notProxied('no-cluster-ip'),
    'warning NoClusterIP: it has no cluster IP yet',
    'check that the API server assigns one: kubectl get servicecidrs',
  ],
  [
    sentences.noSuchServicePort('x', ['a', 'b', 'a']),
    'error NotFound: it has no port named x (it has: a, b)',
    'use one of its port names: kubeproxy services -o wide',
  ],
  [
    sentences.noSuchServicePort('x', ['']),
    'error NotFound: it has no port named x (its only port has no name)',
    'use one of its port names: kubeproxy services -o wide',
  ],
  [
    sentences.notFound('shop/web', []),
    'error NotFound: there is no Service web in namespace shop',
    'check the name and the namespace: kubectl get services -A',
  ],
  [
    sentences.notFound('shop/web', ['a/web', 'b/web', 'c/web', 'd/web']),
    'error NotFound: there is no Service web in namespace shop; of that name there is a/web, b/web, c/web and 1 more',
    'check the name and the namespace: kubectl get services -A',
  ],
  [
    sentences.notFound('shop/web', ['a/web', 'b/web', 'c/web']),
    'error NotFound: there is no Service web in namespace shop; of that name there is a/web, b/web, c/web',
    'check the name and the namespace: kubectl get services -A',
  ],
  [
    sentences.undelivered(),
    'warning Unknown: it exists, but it has not been delivered to this node yet',
    'wait for the watch of the API server: kubeproxy status',
  ],
  [
    sentences.unknown('shop/web', 'timeout'),
    'warning Unknown: it is not among the Services that are delivered to this node, and the API server cannot be queried: timeout',
    'query the API server: kubectl -n shop get service web -o yaml',
  ],
  [sentences.forwarded(1, false, undefined), 'ok: to 1 endpoint'],
  [
    sentences.forwarded(2, true, 'the proxy itself listens on 127.0.0.1:30080'),
    'ok: to 2 endpoints on the node; the proxy itself listens on 127.0.0.1:30080',
  ],
  [
    conflict(SHOP, [held(1, 'udp'), held(2)], false),
    'warning FrontendConflict: 10.96.0.1:53/UDP belongs to shop/dns:udp; 10.96.0.2:53/UDP belongs to shop/dns',
    `remove the address or port from one of the Services: ${EDIT}`,
  ],
  [
    conflict(SHOP, [held(1), held(2), held(3), held(4), held(5)], true),
    'error FrontendConflict: all its frontends belong to other Services: 10.96.0.1:53/UDP belongs to shop/dns; 10.96.0.2:53/UDP belongs to shop/dns; 10.96.0.3:53/UDP belongs to shop/dns and 2 more',
    `remove the address or port from one of the Services: ${EDIT}`,
  ],
  [
    conflictVerdict(held(1), undefined, 'warning', SHOP),
    'warning FrontendConflict: belongs to shop/dns',
    `remove the address or port from one of the Services: ${EDIT}`,
  ],
  [
    conflictVerdict(held(1, 'udp'), 'packets are dropped', 'error', SHOP),
    'error FrontendConflict: belongs to shop/dns:udp, packets are dropped',
    `remove the address or port from one of the Services: ${EDIT}`,
  ],
];

it.each(VERDICTS.map(([verdict, ...shown]) => ({ verdict, shown })))('$shown.0', ({ verdict, shown }) => {
  const { state, cause, reason, nextStep } = verdict;
  const [sentence, next] = shown;
  expect(`${cause === undefined ? state : `${state} ${cause}`}: ${reason}`).toBe(sentence);
  expect(nextStep).toBe(next);
});

it.each([
  ['reject', [], 'packets are rejected: it has no endpoint that can be used'],
  ['drop', [], 'packets are dropped: its policy is Local, and no endpoint on the node is ready'],
  ['forward', ['10.1.0.1:80'], 'packets go to its endpoint 10.1.0.1:80'],
  ['forward', ['a', 'b', 'c', 'd'], 'packets go to its 4 endpoints a, b, c and 1 more'],
] as const)('a frontend of another Service with the outcome %s for %j', (outcome, places, sentence) => {
  expect(conflictOutcome(outcome, places)).toBe(sentence);
});
