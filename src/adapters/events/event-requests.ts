import { EventsV1ApiRequestFactory } from '@kubernetes/client-node/dist/gen/apis/EventsV1Api.js';
import { requestConfiguration } from '../kubernetes/client/request-configuration.js';

/** Requests about events, built by client-node. Loaded before the first one. */
export const eventRequests = new EventsV1ApiRequestFactory(requestConfiguration);
