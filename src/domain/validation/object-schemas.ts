import { apiObject } from './metadata.js';
import { portsAreNamed } from './service-rules.js';
import {
  anything,
  atMost,
  flag,
  givenText,
  integer,
  isObject,
  membersOf,
  object,
  objects,
  required,
  text,
  texts,
  unique,
  type Rule,
  oneOfEachFamily,
  within,
} from './schema.js';
import {
  dnsLabel,
  dnsSubdomain,
  domainName,
  endpointAddress,
  labelValue,
  oneOf,
  qualifiedName,
  reachableAddress,
  type TextCheck,
  canonicalCidr,
  cidr,
} from './text-checks.js';
import { quote } from '../decode/fields.js';
import { parseCidr } from '../net/cidr.js';

const protocol = oneOf('TCP', 'UDP', 'SCTP');

const targetRef = object({
  apiVersion: text(),
  kind: text(),
  namespace: text(),
  name: text(),
  uid: text(),
  resourceVersion: text(),
  fieldPath: text(),
});

const nameOf = ({ name }: { readonly name?: unknown }): string => (typeof name === 'string' ? name : '');

const ADDRESS_CHECKS: Readonly<Record<string, TextCheck>> = {
  IPv4: endpointAddress('IPv4'),
  IPv6: endpointAddress('IPv6'),
  FQDN: domainName,
};

const addressesFit: Rule = ({ addressType, endpoints }, _field, report) => {
  const check = typeof addressType === 'string' ? ADDRESS_CHECKS[addressType] : undefined;
  if (!check) return;
  for (const [index, endpoint] of membersOf(endpoints).entries()) {
    for (const [at, address] of membersOf(isObject(endpoint) ? endpoint.addresses : undefined).entries()) {
      if (address !== null && typeof address !== 'string') continue;
      const wrong = check(address ?? '');
      if (wrong !== undefined) report(`endpoints[${index}].addresses[${at}]`, `${quote(address)} ${wrong}`);
    }
  }
};

/** A `discovery.k8s.io/v1 EndpointSlice`, defaults applied (ValidateEndpointSliceCreate). */
export const endpointSliceSchema = apiObject(
  dnsSubdomain,
  {
    addressType: text(oneOf('IPv4', 'IPv6', 'FQDN')),
    endpoints: objects(
      {
        addresses: texts(),
        conditions: object({ ready: flag, serving: flag, terminating: flag }),
        hostname: givenText(dnsLabel),
        targetRef,
        deprecatedTopology: anything,
        nodeName: givenText(dnsSubdomain),
        zone: text(),
        hints: object(
          {
            forZones: objects({ name: text(labelValue) }),
            forNodes: objects({ name: text(dnsSubdomain) }, required('name')),
          },
          atMost('forZones', 8),
          atMost('forNodes', 8),
          unique('forZones', 'name', nameOf, '.name'),
          unique('forNodes', 'name', nameOf, '.name'),
        ),
      },
      required('addresses', 'has no address'),
      atMost('addresses', 100),
    ),
    ports: objects({
      name: text(dnsLabel),
      protocol: givenText(protocol),
      port: integer(),
      appProtocol: givenText(qualifiedName),
    }),
  },
  required('addressType'),
  atMost('endpoints', 1000),
  atMost('ports', 20_000),
  unique('ports', 'name', nameOf, '.name'),
  addressesFit,
);

const endpointsAddress = objects(
  { ip: text(reachableAddress), hostname: text(dnsLabel), nodeName: givenText(dnsSubdomain), targetRef },
  required('ip'),
);

const subsetHasAddress: Rule = ({ addresses, notReadyAddresses }, field, report) => {
  if (membersOf(addresses).length === 0 && membersOf(notReadyAddresses).length === 0)
    report(field, 'has neither addresses nor notReadyAddresses');
};

/** A `v1 Endpoints`, defaults applied (ValidateEndpointsCreate). */
export const endpointsSchema = apiObject(dnsSubdomain, {
  subsets: objects(
    {
      addresses: endpointsAddress,
      notReadyAddresses: endpointsAddress,
      ports: objects(
        {
          name: text(dnsLabel),
          port: integer(1, 65535),
          protocol: text(protocol),
          appProtocol: givenText(qualifiedName),
        },
        required('port'),
      ),
    },
    subsetHasAddress,
    portsAreNamed,
  ),
});

const familyOf = (network: unknown): unknown => parseCidr(network)?.family;

/** A `networking.k8s.io/v1 ServiceCIDR` (ValidateServiceCIDR). */
export const serviceCidrSchema = apiObject(
  dnsSubdomain,
  {
    spec: object({ cidrs: texts(canonicalCidr) }, oneOfEachFamily('cidrs', familyOf), atMost('cidrs', 2)),
    status: anything,
  },
  (owner, field, report) =>
    required('cidrs')((owner.spec ?? {}) as typeof owner, within(field, 'spec'), report),
);

/** A `v1 Node`, as far as the proxy reads it. */
export const nodeSchema = apiObject(dnsSubdomain, {
  spec: object(
    {
      podCIDR: text(cidr),
      podCIDRs: texts(cidr),
      providerID: text(),
      externalID: text(),
      unschedulable: flag,
      taints: objects(
        {
          key: text(qualifiedName),
          value: text(labelValue),
          effect: text(oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute')),
          timeAdded: text(),
        },
        required('key'),
        required('effect'),
      ),
      configSource: anything,
    },
    oneOfEachFamily('podCIDRs', familyOf),
  ),
  status: anything,
});
