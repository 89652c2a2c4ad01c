import { quote } from '../decode/fields.js';
import { parseAddress } from '../net/address.js';
import {
  flag,
  integer,
  givenText,
  object,
  objects,
  oneOfEachFamily,
  only,
  required,
  text,
  texts,
  unique,
  anything,
  isMissing,
} from './schema.js';
import { apiObject, labels } from './metadata.js';
import {
  affinityTimeout,
  clusterIPsFollow,
  familiesFit,
  headlessFits,
  isExternal,
  isOfType,
  mayHaveExternalPolicy,
  needsHealthCheck,
  portsAreNamed,
  portsExist,
  singleStackIsSingle,
  sourceRangesAnnotation,
  topologyAnnotations,
} from './service-rules.js';
import {
  address,
  dnsLabel,
  externalName,
  oneOf,
  paddedCidr,
  portName,
  qualifiedName,
  reachableAddress,
  dnsSubdomain,
} from './text-checks.js';

const port = integer(1, 65535);
const protocol = oneOf('TCP', 'UDP', 'SCTP');

const ports = objects(
  {
    name: text(dnsLabel),
    protocol: text(protocol),
    appProtocol: givenText(qualifiedName),
    port,
    // 0 is the same as port.
    targetPort: (value, field, report) =>
      (typeof value === 'string' ? text(portName) : integer(0, 65535))(value, field, report),
    // 0 is none. The range of an API server is a flag of its own, 30000 to 32767 unless it is given.
    nodePort: integer(0, 65535),
  },
  required('port'),
);

const spec = object(
  {
    type: text(oneOf('ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName')),
    ports,
    selector: labels,
    clusterIP: text((ip) => (ip === 'None' ? undefined : address(ip))),
    clusterIPs: texts(),
    ipFamilies: texts(oneOf('IPv4', 'IPv6')),
    ipFamilyPolicy: givenText(oneOf('SingleStack', 'PreferDualStack', 'RequireDualStack')),
    externalIPs: texts(reachableAddress),
    externalName: text(),
    externalTrafficPolicy: text(oneOf('Cluster', 'Local')),
    internalTrafficPolicy: givenText(oneOf('Cluster', 'Local')),
    sessionAffinity: text(oneOf('None', 'ClientIP')),
    sessionAffinityConfig: object({ clientIP: object({ timeoutSeconds: integer() }) }),
    loadBalancerIP: text(),
    loadBalancerSourceRanges: texts(paddedCidr),
    loadBalancerClass: givenText(qualifiedName),
    allocateLoadBalancerNodePorts: flag,
    healthCheckNodePort: integer(0, 65535),
    publishNotReadyAddresses: flag,
    trafficDistribution: givenText(oneOf('PreferClose', 'PreferSameZone', 'PreferSameNode')),
  },
  portsExist,
  portsAreNamed,
  unique('ports', 'name', ({ name }) => (isMissing(name) ? undefined : quote(name)), '.name'),
  unique('ports', 'port and protocol', (of) => `${quote(of.port)}/${quote(of.protocol)}`),
  unique(
    'ports',
    'node port',
    ({ nodePort, protocol: of }) => (nodePort ? `${quote(nodePort)}/${quote(of)}` : undefined),
    '.nodePort',
  ),
  affinityTimeout,
  headlessFits,
  clusterIPsFollow,
  oneOfEachFamily('clusterIPs', (ip) => parseAddress(ip)?.family),
  oneOfEachFamily('ipFamilies', (family) => family),
  familiesFit,
  singleStackIsSingle,
  ...['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].map((name) =>
    only(name, (of) => !isExternal(of), 'does not go with the type ExternalName'),
  ),
  (of, field, report) => {
    if (!isExternal(of)) return;
    required('externalName')(of, field, report);
    const { externalName: name } = of;
    if (!isMissing(name) && typeof name === 'string')
      text(externalName)(name, `${field}.externalName`, report);
  },
  ...['loadBalancerSourceRanges', 'allocateLoadBalancerNodePorts', 'loadBalancerClass'].map((name) =>
    only(name, isOfType('LoadBalancer'), 'goes with the type LoadBalancer only'),
  ),
  only(
    'externalTrafficPolicy',
    mayHaveExternalPolicy,
    'goes with node ports, load balancers and external IPs only',
  ),
  only(
    'healthCheckNodePort',
    needsHealthCheck,
    'goes with the type LoadBalancer and externalTrafficPolicy Local only',
  ),
);

const status = object({
  loadBalancer: object({
    ingress: objects({
      ip: text(address),
      hostname: text(dnsSubdomain),
      ipMode: text(oneOf('VIP', 'Proxy')),
      ports: anything,
    }),
  }),
  conditions: anything,
});

/** A `v1 Service`, defaults applied (ValidateServiceCreate, and the checks before addresses are allocated). */
export const serviceSchema = apiObject(
  dnsLabel,
  { spec, status },
  topologyAnnotations,
  sourceRangesAnnotation,
);
