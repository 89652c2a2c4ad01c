import { apiObject } from './metadata.js';
import {
  anything,
  atMost,
  flag,
  object,
  objects,
  oneOfEachFamily,
  required,
  text,
  texts,
  within,
} from './schema.js';
import { parseCidr } from '../net/cidr.js';
import { canonicalCidr, cidr, dnsSubdomain, oneOf, qualifiedName, labelValue } from './text-checks.js';

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
