import { metadata } from './metadata.js';
import {
  anything,
  atMost,
  flag,
  object,
  objects,
  required,
  text,
  texts,
  type Rule,
  membersOf,
  within,
} from './schema.js';
import { parseCidr } from '../net/cidr.js';
import { canonicalCidr, cidr, dnsSubdomain, oneOf, qualifiedName, labelValue } from './text-checks.js';

/** At most one network of each family. */
function networksDiffer(name: string): Rule {
  return (owner, field, report) => {
    const networks = membersOf(owner[name]).map((text) => parseCidr(text)?.family);
    for (const [index, family] of networks.entries()) {
      const first = networks.indexOf(family);
      if (family !== undefined && first < index)
        report(`${field}.${name}[${index}]`, `is of the same family as ${field}.${name}[${first}]`);
    }
  };
}

/** A `networking.k8s.io/v1 ServiceCIDR` (ValidateServiceCIDR). */
export const serviceCidrSchema = object(
  {
    apiVersion: text(),
    kind: text(),
    metadata: metadata(dnsSubdomain),
    spec: object({ cidrs: texts(canonicalCidr) }, networksDiffer('cidrs'), atMost('cidrs', 2)),
    status: anything,
  },
  (owner, field, report) =>
    required('cidrs')((owner.spec ?? {}) as typeof owner, within(field, 'spec'), report),
);

/** A `v1 Node`, as far as the proxy reads it. */
export const nodeSchema = object({
  apiVersion: text(),
  kind: text(),
  metadata: metadata(dnsSubdomain),
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
    networksDiffer('podCIDRs'),
  ),
  status: anything,
});
