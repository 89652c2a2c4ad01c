/** What every verdict says, and the next step: the one place of these sentences. */

import { distinctCount, endpointName, type Endpoint, type PortIdentity } from '../model/endpoint.js';
import type { Service, NotProxiedKind } from '../model/service.js';
import type { Protocol, ServiceKey } from '../model/service-port-name.js';
import type { IpFamily } from '../net/ip-family.js';
import type { Cause, Verdict } from './verdict.js';

/** What sentences name of a Service. */
export type NamedService = Pick<Service, 'namespace' | 'name' | 'selector'>;

function error(cause: Cause, reason: string, nextStep: string): Verdict {
  return { state: 'error', cause, reason, nextStep };
}

function warning(cause: Cause, reason: string, nextStep: string): Verdict {
  return { state: 'warning', cause, reason, nextStep };
}

function ok(cause: Cause, reason: string): Verdict {
  return { state: 'ok', cause, reason };
}

/** `1 endpoint`, `2 endpoints`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** How many are named in a sentence. */
const NAMED = 3;

export function named(all: readonly string[], separator = ', '): string {
  const more = all.length - NAMED;
  return `${all.slice(0, NAMED).join(separator)}${more > 0 ? ` and ${more} more` : ''}`;
}

const SLICE_LABEL = 'kubernetes.io/service-name';

function kubectl({ namespace }: NamedService, command: string): string {
  return `kubectl -n ${namespace} ${command}`;
}

export function edit(service: NamedService): string {
  return kubectl(service, `edit service ${service.name}`);
}

function describeSlices(service: NamedService): string {
  return kubectl(service, `describe endpointslices -l ${SLICE_LABEL}=${service.name}`);
}

/** Of a Service without a selector, the endpoints are all that there is. */
function checkPods(service: NamedService, command: 'get' | 'describe', also = ''): string {
  return service.selector === undefined
    ? describeSlices(service)
    : kubectl(service, `${command} pods -l ${service.selector}${also}`);
}

const CHECK_PROXY = 'check the proxy of the node: kubeproxy status';

/* Programming. */

export function programmingFailed(reason: string, limitedBy: 'mode' | 'node' | undefined): Verdict {
  return limitedBy === 'mode'
    ? error(
        'NotSupportedByMode',
        `this mode of the proxy does not support it: ${reason}`,
        'use another mode of the proxy, or change the Service: kubeproxy status shows the mode',
      )
    : error('ProgrammingFailed', `it cannot be programmed on the node: ${reason}`, CHECK_PROXY);
}

export function removalFailed(reason: string): Verdict {
  return error('ProgrammingFailed', `a port that it no longer has cannot be removed: ${reason}`, CHECK_PROXY);
}

export function pending(): Verdict {
  return warning(
    'Pending',
    'its last change is not programmed yet',
    'wait for the next sync: kubeproxy status',
  );
}

/** @param own of its cluster IPs @param served by this node */
export function familyNotServed(own: readonly string[], served: readonly string[]): Verdict {
  return warning(
    'FamilyNotServed',
    `its cluster IP is ${own.join(', ')}, and this node serves ${served.join(', ')}`,
    'check the IP families of the cluster and of this node: kubeproxy status',
  );
}

/** @param unread what could not be read since the start */
export function unreadObjects(unread: readonly string[]): Verdict {
  return warning(
    'UnreadObjects',
    `it has no EndpointSlice, but an unreadable object may contain one (first: ${unread[0]}); its rules from before the start stay until all objects are readable`,
    'correct the objects that cannot be read: kubeproxy status lists them',
  );
}

/** @param limits in which ways it is not programmed as requested */
export function limited(service: NamedService, limits: readonly string[]): Verdict {
  return warning(
    'LimitedProgramming',
    limits.join('; '),
    `compare with the Service: ${kubectl(service, `get service ${service.name} -o yaml`)}`,
  );
}

/** A setting of the kernel stops its traffic. @param text names the setting and the right value */
export function kernelObstacle(kind: 'not-forwarded' | 'bridged', text: string): Verdict {
  return kind === 'not-forwarded'
    ? error(
        'ForwardingDisabled',
        text,
        'switch on forwarding on the node: sysctl -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1',
      )
    : error('BridgeNotFiltered', text, 'filter bridged packets on the node: modprobe br_netfilter');
}

/** Rules of other programs, or settings, stop packets of the Service. */
export function blocked(from: string, to: string, outcome: string, reason: string): Verdict {
  return error(
    'BlockedByOtherRules',
    `packets from ${from} to ${to} are stopped (${outcome}): ${reason}`,
    `trace such a packet: kubeproxy trace --kernel --from ${from} --to ${to}`,
  );
}

export function notReachable(endpoint: string, problem: string): Verdict {
  return error(
    'EndpointNotReachable',
    `this node cannot reach endpoint ${endpoint}: ${problem}`,
    `check the route and the pod: ${podAt(endpoint.slice(0, endpoint.lastIndexOf(':')).replace(/^\[|\]$/g, ''))}`,
  );
}

/* Endpoints. */

export function noSlices(service: NamedService): Verdict {
  const missing = `no EndpointSlice has the label ${SLICE_LABEL}=${service.name}`;
  return service.selector === undefined
    ? error(
        'NoEndpointSlice',
        `it has no selector, and ${missing}`,
        `add a selector, or an EndpointSlice with this label: ${kubectl(service, 'get endpointslices --show-labels')}`,
      )
    : error(
        'NoEndpointSlice',
        missing,
        'check that kube-controller-manager runs: kubectl -n kube-system get pods',
      );
}

export function otherFamily(service: NamedService, has: readonly IpFamily[], wanted: IpFamily): Verdict {
  return error(
    'OtherFamily',
    `all its EndpointSlices are ${has.join(', ')}, and its cluster IP is ${wanted}`,
    `compare the address types: ${describeSlices(service)}`,
  );
}

export function noSuchTargetPort(service: NamedService, target: string): Verdict {
  return error(
    'NoSuchTargetPort',
    `no pod has a port named ${target}, the targetPort of the Service`,
    `compare with the ports of the pods: ${checkPods(service, 'describe')}`,
  );
}

/** @param present what the slices have */
export function noSuchPort(
  service: NamedService,
  { port, protocol }: PortIdentity,
  present: readonly PortIdentity[],
): Verdict {
  if (present.length === 0)
    return error(
      'NoSuchPort',
      'its EndpointSlices have no port',
      `add the port to the EndpointSlices: ${describeSlices(service)}`,
    );
  const list = [...new Set(present.map((one) => slicePortText(one, protocol)))].sort().join(', ');
  const wanted = port === '' ? 'without a name' : `named ${port}`;
  return present.some((one) => one.port === port)
    ? error(
        'OtherProtocol',
        `no EndpointSlice has a port ${wanted} for ${protocol} (they have: ${list})`,
        `compare the protocols: ${describeSlices(service)}`,
      )
    : error(
        'NoSuchPort',
        `no EndpointSlice has a port ${wanted} (they have: ${list})`,
        `compare the port names: ${describeSlices(service)}`,
      );
}

function slicePortText({ port, protocol }: PortIdentity, wanted: Protocol): string {
  return `${port === '' ? 'one without a name' : port}${protocol === wanted ? '' : ` for ${protocol}`}`;
}

export function noEndpoint(service: NamedService): Verdict {
  return service.selector === undefined
    ? error(
        'NoEndpoint',
        'its EndpointSlices list no endpoint, and it has no selector',
        `add endpoints to the EndpointSlices: ${describeSlices(service)}`,
      )
    : error(
        'NoPodSelected',
        `no pod has the labels ${service.selector}`,
        `check the selector: ${checkPods(service, 'get', ' --show-labels')}`,
      );
}

export function allTerminating(service: NamedService, count: number): Verdict {
  return error(
    'AllTerminating',
    count === 1
      ? 'the only endpoint is terminating and no longer serves'
      : `all ${count} endpoints are terminating and no longer serve`,
    `check why no pod takes over: ${checkPods(service, 'get')}`,
  );
}

export function noneReady(service: NamedService, count: number, terminating: number): Verdict {
  const also =
    terminating === 0 ? '' : `, and ${terminating} ${terminating === 1 ? 'is' : 'are'} terminating`;
  return error(
    'NoReadyEndpoint',
    `${readyText(0, count)}${also}`,
    `check the readiness probes: ${checkPods(service, 'describe')}`,
  );
}

export function onlyTerminating(service: NamedService, count: number): Verdict {
  return warning(
    'OnlyTerminating',
    `no endpoint is ready; traffic goes to ${counted(count, 'terminating endpoint')} that still ${count === 1 ? 'serves' : 'serve'}`,
    `check why no pod takes over: ${checkPods(service, 'get')}`,
  );
}

export function noLocalEndpoint(service: NamedService, isInternal: boolean): Verdict {
  const missing = 'is Local and no endpoint on the node is ready';
  return isInternal
    ? error(
        'NoLocalEndpoint',
        `internalTrafficPolicy ${missing}: packets from clients on the node are dropped`,
        `run a pod on every node, or set internalTrafficPolicy to Cluster: ${edit(service)}`,
      )
    : ok(
        'NoLocalEndpoint',
        `externalTrafficPolicy ${missing}: the node drops packets from outside the cluster, so load balancers use other nodes`,
      );
}

/** @param zones for which ready endpoints are hinted; empty: for nodes */
export function otherZones(count: number, zones: readonly string[], own: string): Verdict {
  const are = count === 1 ? '1 ready endpoint is' : `${count} ready endpoints are`;
  const where = zones.length > 0 ? `zone ${zones.join(', ')}` : 'other nodes';
  return ok(
    'OtherZones',
    `${are} hinted for ${where}, and the node is in zone ${own === '' ? '(none)' : own}`,
  );
}

/** A ready endpoint that does not answer. */
export interface UnresponsiveEndpoint extends Pick<Endpoint, 'address' | 'port' | 'pod'> {
  /** Connections to it that got no answer; missing if they are not counted. */
  readonly unansweredConnections?: number | undefined;
}

/** @param endpoints that do not answer @param ready how many endpoints are ready, with these, by `distinctCount` */
export function unresponsive(
  namespace: string,
  endpoints: readonly UnresponsiveEndpoint[],
  ready: number,
): Verdict {
  const count = distinctCount(endpoints);
  const verb = count === 1 ? 'does' : 'do';
  const { address, pod } = endpoints[0]!;
  const shown = endpoints.slice(0, MOST_UNRESPONSIVE).map(unresponsiveText);
  const more = endpoints.length - shown.length;
  return warning(
    'UnresponsiveEndpoint',
    `${count} of ${counted(ready, 'ready endpoint')} ${verb} not answer: ${[...shown, ...(more > 0 ? [`${more} more`] : [])].join('; ')}`,
    `check the pod of the endpoint: ${pod === undefined ? podAt(address) : `kubectl -n ${namespace} describe pod ${pod}`}`,
  );
}

function podAt(address: string): string {
  return `kubectl get pods -A -o wide --field-selector status.podIP=${address}`;
}

/** How many are named. */
const MOST_UNRESPONSIVE = 3;

function unresponsiveText(endpoint: UnresponsiveEndpoint): string {
  const { unansweredConnections = 0 } = endpoint;
  const name = endpointName(endpoint);
  return unansweredConnections === 0
    ? name
    : `${name}, ${counted(unansweredConnections, 'connection')} without an answer`;
}

export function healthy(ready: number, all: number): Verdict {
  return { state: 'ok', reason: readyText(ready, all) };
}

function readyText(ready: number, all: number): string {
  return `${ready} of ${counted(all, 'endpoint')} ${all === 1 ? 'is' : 'are'} ready`;
}

/* Objects. */

/** The name of the Service stands before its verdict. @param object `Service shop/web` */
function isService(object: string): boolean {
  return object.startsWith('Service ');
}

/** A part of an object of the Service is ignored. @param object `Service shop/web` */
export function ignoredPart(object: string, problem: string, isAnnotation: boolean): Verdict {
  const reason = isService(object) ? problem : `${object}: ${problem}`;
  return isAnnotation
    ? warning('AnnotationIgnored', reason, `correct the annotation: ${editObject(object)}`)
    : warning('FieldIgnored', reason, `correct the field: ${editObject(object)}`);
}

/** @param isServed an earlier version of the Service, or its other objects, are in use */
export function invalidObject(object: string, problem: string, isServed: boolean): Verdict {
  const kept = isServed && isService(object) ? '; its last valid version stays in use' : '';
  return error(
    'InvalidObject',
    `${isService(object) ? 'it' : object} is invalid and ignored: ${problem}${kept}`,
    `correct the object: ${editObject(object)}`,
  );
}

function editObject(object: string): string {
  const [kind = '', key = ''] = object.split(' ', 2);
  const [namespace = '', name = ''] = key.split('/', 2);
  return `kubectl -n ${namespace} edit ${kind.toLowerCase()} ${name}`;
}

/* Services that are not served. */

const NOT_PROXIED: Readonly<Record<NotProxiedKind, Verdict>> = {
  headless: ok(
    'Headless',
    'it is headless (clusterIP None): its name resolves to its pods, and no proxy is needed',
  ),
  'external-name': ok(
    'ExternalName',
    'its type is ExternalName: its name resolves to another name, and no proxy is needed',
  ),
  'other-proxy': ok(
    'OtherProxy',
    'its label service.kubernetes.io/service-proxy-name gives it to another proxy',
  ),
  'no-cluster-ip': warning(
    'NoClusterIP',
    'it has no cluster IP yet',
    'check that the API server assigns one: kubectl get servicecidrs',
  ),
};

export function notProxied(kind: NotProxiedKind): Verdict {
  return NOT_PROXIED[kind];
}

/** A port that was named in a query. @param present the names of its ports */
export function noSuchServicePort(port: string, present: readonly string[]): Verdict {
  const all = [...new Set(present)].filter(Boolean);
  const has = all.length === 0 ? 'its only port has no name' : `it has: ${all.join(', ')}`;
  return error(
    'NotFound',
    `it has no port named ${port} (${has})`,
    'use one of its port names: kubeproxy services -o wide',
  );
}

/** @param namesakes Services of this name in other namespaces */
export function notFound(service: ServiceKey, namesakes: readonly string[]): Verdict {
  const [namespace = '', name = ''] = service.split('/');
  const others = namesakes.length === 0 ? '' : `; of that name there is ${named(namesakes)}`;
  return error(
    'NotFound',
    `there is no Service ${name} in namespace ${namespace}${others}`,
    'check the name and the namespace: kubectl get services -A',
  );
}

export function undelivered(): Verdict {
  return warning(
    'Unknown',
    'it exists, but it has not been delivered to this node yet',
    'wait for the watch of the API server: kubeproxy status',
  );
}

/** @param problem why the API server cannot be queried */
export function unknown(service: ServiceKey, problem: string): Verdict {
  const [namespace = '', name = ''] = service.split('/');
  return warning(
    'Unknown',
    `it is not among the Services that are delivered to this node, and the API server cannot be queried: ${problem}`,
    `query the API server: kubectl -n ${namespace} get service ${name} -o yaml`,
  );
}

/* Frontends. */

/** Packets to a frontend go to endpoints. */
export function forwarded(endpoints: number, isLocal: boolean, also: string | undefined): Verdict {
  const where = `to ${counted(endpoints, 'endpoint')}${isLocal ? ' on the node' : ''}`;
  return { state: 'ok', reason: also === undefined ? where : `${where}; ${also}` };
}
