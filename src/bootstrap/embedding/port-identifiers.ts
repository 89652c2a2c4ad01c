/** Those parts of a proxy that are ports: whatever is bound there has only to keep the port's promise. */
export {
  BACKENDS,
  CLOCK,
  CLUSTER_SOURCE,
  CONNTRACK,
  EVENT_RECORDER,
  FAMILIES,
  LOCAL_ADDRESSES,
  LOGGER,
  SYNC_OBSERVER,
} from '../identifiers.js';
