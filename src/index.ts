/**
 * The proxy as a library: {@link createProxy} puts one together, from parts of one's own where they are given.
 * See docs/embedding.md.
 *
 * @packageDocumentation
 */

export { createProxy, type ProxyOptions } from './bootstrap/embedding.js';
export type { EmbeddedProxy, NotProxiedPort } from './bootstrap/embedding.js';
export { UsageError } from './adapters/cli/usage-error.js';
export type { KubeProxyConfiguration } from './bootstrap/configuration/schema.js';
export { ConfigurationError, type ConfigurationPhase } from './bootstrap/configuration/errors.js';

// Interfaces for embedders to implement.
export type {
  ApplyResult,
  Backend,
  ServiceFailure,
  ServiceNote,
  StartOptions,
  VerificationKind,
  VerifyResult,
} from './application/ports/backend.js';
export type { RuleDifference } from './domain/reconcile/rule-difference.js';
export type { Clock, Timer } from './application/ports/clock.js';
export type {
  ClusterSource,
  ObjectReference,
  ObjectSink,
  ResourceKind,
  SourceState,
  SourceStatus,
} from './application/ports/cluster-source.js';
export {
  ConntrackUnavailableError,
  type Conntrack,
  type FindResult,
  type FoundConnection,
  type WatchedProtocol,
  type PollResult,
  type SweepResult,
} from './application/ports/node/conntrack.js';
export type { ClusterEvent, EventRecorder, EventSubject } from './application/ports/event-recorder.js';
export type { LocalAddresses } from './application/ports/node/network.js';
export type { HighVerbosity, Logger } from './application/ports/logger.js';
export type { SyncObserver, SyncReport } from './application/ports/sync-observer.js';

// Interfaces for embedders whose backend uses the reconciler of this package. They may change in any minor
// version; everything else is stable (docs/embedding.md).
export { Reconciler } from './application/reconcile/reconciler.js';
export type { RecoveryBounds, RecoveryLimits } from './application/reconcile/recovery-attempt.js';
export {
  RejectedError,
  type Driver,
  type ReadOptions,
  type WriteResult,
} from './application/ports/driver.js';
export type { DifferenceLines, KernelSnapshot, WriteWatch } from './application/ports/driver.js';
export { Claims, type ClaimChange, type RankOf } from './domain/reconcile/claims.js';
export type { DesiredState } from './domain/reconcile/desired-state.js';
export { OwnedParts, type OwnedPart, type Part, type Switch } from './domain/reconcile/owned-parts.js';
export type { AdoptedRules } from './domain/reconcile/desired-state.js';

// The input of a backend.
export {
  isExternal,
  shortCircuits,
  type DeniedBalancing,
  type ForwardingEntry,
  type Frontend,
  type FrontendKind,
  type PacketOutcome,
} from './domain/forwarding/forwarding-entry.js';
export {
  BALANCING_METHODS,
  type Balancing,
  type BalancingMethod,
  type TableOwners,
} from './domain/balancing/balancing.js';
export type { ForwardingChange } from './domain/forwarding/forwarding-table.js';
export type { NodeNetwork } from './domain/forwarding/node-network.js';
export type { FlowPlace } from './domain/conntrack/frontend-map.js';
export type { ConnectionActivity } from './domain/conntrack/flow.js';
export type { FlowQuery } from './domain/conntrack/desired-flows.js';
export type { ClientFlow, Flow } from './domain/conntrack/flow.js';
export type { FrontendAddress } from './domain/conntrack/frontend-map.js';
export { endpointPlace, type Endpoint } from './domain/model/endpoint.js';
export {
  displayName,
  type Protocol,
  type ServicePortKey,
  type ServicePortName,
} from './domain/model/service-port-name.js';
export type { Cidr } from './domain/net/cidr.js';
export { IP_FAMILIES, type IpFamily } from './domain/net/ip-family.js';
export type { LocalTrafficDetector } from './domain/node/local-traffic-detector.js';
export type { EndpointSelection, OmittedEndpoints } from './domain/select-endpoints.js';
export type { ConflictingFrontend } from './domain/verdict/conflicts.js';
export type { PortProblem } from './application/status/port-status.js';

// Parts of the program that are of use elsewhere.
export { NetlinkConntrack } from './adapters/conntrack/netlink-conntrack.js';
export { ManifestSource, type ManifestSourceOptions } from './adapters/manifests/manifest-source.js';
export { InterfaceAddresses } from './adapters/process/host-facts.js';
export {
  PinoLogger,
  type LogSettings,
  type LogStream,
  type PinoLoggerOptions,
} from './adapters/process/pino-logger.js';
export { SystemClock } from './adapters/process/system-clock.js';
