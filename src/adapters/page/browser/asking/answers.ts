/* What the routes answer, in the words of those that make the answers, so that they cannot drift apart. */

export type {
  EndpointExplanation,
  Explanation,
  FamilyExplanation,
  FrontendExplanation,
  PortExplanation,
} from '../../../../application/explain/explanation.js';
export type { ChangeEntry, History, ServicePortChange } from '../../../../application/status/change-entry.js';
export type { FamilyStatus, ProxyStatus, WatchStatus } from '../../../../application/status/proxy-status.js';
export type { ServiceList, ServiceRow } from '../../../../application/status/service-row.js';
export type { PortReport, TrafficReport } from '../../../../domain/traffic/traffic-report.js';
export type { TraceAnswer } from '../../../../application/trace/answer.js';
export type { Step, TracedEndpoint } from '../../../../domain/trace/trace.js';
