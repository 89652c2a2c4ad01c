import type { Node } from '../model/node.js';
import { cidrText, parseCidr } from '../net/cidr.js';
import { furtherAddresses, nodeIPs, type NodeStatusAddress } from '../node/node-addresses.js';
import { listField, objectField, subdomainField, textField } from './fields.js';
import { InvalidObject, quote, type Reading } from './problem.js';

/** The zone that the node is in. */
export const ZONE_LABEL = 'topology.kubernetes.io/zone';
const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler';

/** Reads a `v1 Node` (docs/spec/server.md §2, §8.3). */
export function readNode(raw: unknown): Reading<Node> {
  const problems: string[] = [];
  try {
    const object = objectField(raw, 'Node');
    const metadata = objectField(object.metadata, 'metadata');
    const spec = objectField(object.spec, 'spec');
    const taints = listField(spec.taints, 'spec.taints').map((taint, index) =>
      objectField(taint, `spec.taints[${index}]`),
    );
    const addresses = readAddresses(objectField(object.status, 'status').addresses);
    const further = furtherAddresses(addresses);
    const deleting = metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
    return {
      value: {
        name: subdomainField(metadata.name, 'metadata.name'),
        zone: textField(objectField(metadata.labels, 'metadata.labels')[ZONE_LABEL], `label ${ZONE_LABEL}`),
        ips: nodeIPs(addresses),
        ...(further.length > 0 && { furtherAddresses: further }),
        podCIDRs: listField(spec.podCIDRs, 'spec.podCIDRs').flatMap((text, index) => {
          const cidr = parseCidr(text);
          if (!cidr) problems.push(`spec.podCIDRs[${index}] ${quote(text)} is not a CIDR; ignored`);
          return cidr ? [cidrText(cidr)] : [];
        }),
        leaving: deleting || taints.some(({ key }) => key === AUTOSCALER_TAINT),
      },
      problems,
    };
  } catch (error) {
    if (error instanceof InvalidObject) return { problems: [error.message] };
    throw error;
  }
}

function readAddresses(raw: unknown): NodeStatusAddress[] {
  return listField(raw, 'status.addresses').map((entry, index) => {
    const path = `status.addresses[${index}]`;
    const { type, address } = objectField(entry, path);
    return { type: textField(type, `${path}.type`), address: textField(address, `${path}.address`) };
  });
}
