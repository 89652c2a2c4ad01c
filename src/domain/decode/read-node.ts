import type { Node } from '../model/node.js';
import { cidrText, parseCidr } from '../net/cidr.js';
import { furtherAddresses, nodeIPs, type NodeStatusAddress } from '../node/node-addresses.js';
import {
  objectField,
  readEach,
  readObject,
  subdomainField,
  textField,
  ProblemList,
  quote,
  type Reading,
} from './fields.js';
/** The zone that the node is in. */
export const ZONE_LABEL = 'topology.kubernetes.io/zone';
const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler';

/** Reads a `v1 Node` (docs/internals/spec/server.md §2, §8.3). */
export function readNode(raw: unknown): Reading<Node> {
  const problems = new ProblemList();
  return readObject(raw, 'Node', (object, metadata) => {
    const spec = objectField(object.spec, 'spec');
    const taints = readEach(spec.taints, 'spec.taints', (taint) => objectField(taint, ''));
    const status = objectField(object.status, 'status');
    const addresses = readEach(status.addresses, 'status.addresses', readAddress);
    const further = furtherAddresses(addresses);
    const deleting = metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
    return {
      value: {
        name: subdomainField(metadata.name, 'metadata.name'),
        zone: textField(objectField(metadata.labels, 'metadata.labels')[ZONE_LABEL], `label ${ZONE_LABEL}`),
        ips: nodeIPs(addresses),
        ...(further.length > 0 && { furtherAddresses: further }),
        podCIDRs: readEach(spec.podCIDRs, 'spec.podCIDRs', (text, index) => {
          const cidr = parseCidr(text);
          if (!cidr) problems.add(() => `spec.podCIDRs[${index}] ${quote(text)} is not a CIDR; ignored`);
          return cidr && cidrText(cidr);
        }),
        draining: deleting || taints.some(({ key }) => key === AUTOSCALER_TAINT),
      },
      problems: problems.texts,
    };
  });
}

function readAddress(raw: unknown): NodeStatusAddress {
  const { type, address } = objectField(raw, '');
  return { type: textField(type, '.type'), address: textField(address, '.address') };
}
