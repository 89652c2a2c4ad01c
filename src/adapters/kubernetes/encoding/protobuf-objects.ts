import type { ResourceKind } from '../../../application/ports/cluster-source.js';
import {
  BALANCING_ANNOTATION,
  WEIGHT_ANNOTATION,
  EJECT_ANNOTATION,
  SCHEDULER_ANNOTATION,
} from '../../../domain/decode/annotations.js';
import {
  HEADLESS_LABEL,
  SERVICE_NAME_LABEL,
  TRIGGER_TIME_ANNOTATION,
} from '../../../domain/decode/read-endpoint-slice.js';
import { ZONE_LABEL } from '../../../domain/decode/read-node.js';
import { SERVICE_PROXY_NAME_LABEL } from '../../../domain/decode/read-service.js';
import { INITIAL_EVENTS_END } from './encoding.js';
import {
  bool,
  entries,
  int32,
  message,
  nested,
  optionalText,
  repeated,
  text,
  texts,
  timestamp,
  type Message,
} from './protobuf-message.js';

/*
 * The fields that `domain/decode` reads, with the field numbers of the generated.proto files of Kubernetes:
 * https://github.com/kubernetes/apimachinery/blob/master/pkg/apis/meta/v1/generated.proto (ObjectMeta, ListMeta, Status),
 * https://github.com/kubernetes/api/blob/master/core/v1/generated.proto (Service, Endpoints, Node),
 * https://github.com/kubernetes/api/blob/master/discovery/v1/generated.proto (EndpointSlice),
 * https://github.com/kubernetes/api/blob/master/networking/v1/generated.proto (ServiceCIDR).
 */

const objectMeta = message({
  1: text('name'),
  3: text('namespace'),
  6: text('resourceVersion'),
  8: timestamp('creationTimestamp'),
  9: timestamp('deletionTimestamp'),
  11: entries('labels', [SERVICE_NAME_LABEL, SERVICE_PROXY_NAME_LABEL, HEADLESS_LABEL, ZONE_LABEL]),
  12: entries('annotations', [
    TRIGGER_TIME_ANNOTATION,
    SCHEDULER_ANNOTATION,
    EJECT_ANNOTATION,
    BALANCING_ANNOTATION,
    WEIGHT_ANNOTATION,
    INITIAL_EVENTS_END,
  ]),
});

/** An object, with its metadata. */
function apiObject(fields: Parameters<typeof message>[0]): Message {
  return message({ 1: nested('metadata', objectMeta), ...fields });
}

/** The metadata alone, which every object has. */
export const anyObject = apiObject({});

const servicePort = message({
  1: text('name'),
  2: text('protocol'),
  3: int32('port'),
  4: nested('targetPort', message({ 3: text('strVal') })),
  5: int32('nodePort'),
});

const clientIPConfig = message({ 1: int32('timeoutSeconds') });

const serviceSpec = message({
  1: repeated('ports', servicePort),
  2: entries('selector'),
  3: text('clusterIP'),
  4: text('type'),
  5: texts('externalIPs'),
  7: text('sessionAffinity'),
  9: texts('loadBalancerSourceRanges'),
  11: text('externalTrafficPolicy'),
  12: int32('healthCheckNodePort'),
  14: nested('sessionAffinityConfig', message({ 1: nested('clientIP', clientIPConfig) })),
  18: texts('clusterIPs'),
  19: texts('ipFamilies'),
  22: optionalText('internalTrafficPolicy'),
});

const loadBalancerIngress = message({ 1: text('ip'), 3: optionalText('ipMode') });

const serviceStatus = message({
  1: nested('loadBalancer', message({ 1: repeated('ingress', loadBalancerIngress) })),
});

const service = apiObject({
  2: nested('spec', serviceSpec),
  3: nested('status', serviceStatus),
});

const endpointConditions = message({ 1: bool('ready'), 2: bool('serving'), 3: bool('terminating') });

const named = message({ 1: text('name') });

const objectReference = message({ 1: text('kind'), 3: text('name') });

const endpoint = message({
  1: texts('addresses'),
  2: nested('conditions', endpointConditions),
  4: nested('targetRef', objectReference),
  6: optionalText('nodeName'),
  7: optionalText('zone'),
  8: nested('hints', message({ 1: repeated('forZones', named), 2: repeated('forNodes', named) })),
});

const slicePort = message({ 1: optionalText('name'), 2: optionalText('protocol'), 3: int32('port') });

const endpointSlice = apiObject({
  2: repeated('endpoints', endpoint),
  3: repeated('ports', slicePort),
  4: text('addressType'),
});

const endpointAddress = message({
  1: text('ip'),
  2: nested('targetRef', objectReference),
  4: optionalText('nodeName'),
});

const endpointPort = message({ 1: text('name'), 2: int32('port'), 3: text('protocol') });

const endpointSubset = message({
  1: repeated('addresses', endpointAddress),
  2: repeated('notReadyAddresses', endpointAddress),
  3: repeated('ports', endpointPort),
});

const endpoints = apiObject({
  2: repeated('subsets', endpointSubset),
});

const nodeSpec = message({ 5: repeated('taints', message({ 1: text('key') })), 7: texts('podCIDRs') });

const nodeStatus = message({
  5: repeated('addresses', message({ 1: text('type'), 2: text('address') })),
});

const node = apiObject({
  2: nested('spec', nodeSpec),
  3: nested('status', nodeStatus),
});

const serviceCidr = apiObject({
  2: nested('spec', message({ 1: texts('cidrs') })),
});

/** The fields read of an object of each kind. */
export const objectMessages: Readonly<Record<ResourceKind, Message>> = {
  Service: service,
  EndpointSlice: endpointSlice,
  Endpoints: endpoints,
  Node: node,
  ServiceCIDR: serviceCidr,
};

/** The part of a list outside its items. */
export const listMeta: Message = message({ 2: text('resourceVersion'), 3: text('continue') });

/** The server's rejection of a request. */
export const statusMessage: Message = message({
  3: text('message'),
  4: text('reason'),
  5: nested('details', message({ 5: int32('retryAfterSeconds') })),
  6: int32('code'),
});
