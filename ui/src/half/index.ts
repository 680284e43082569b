export { type Failure, type HalfDoors, type HalfRun, InvokeRefused, type SessionFacts, type Verdict } from "./doors";
export { type HalfState, Halves, type HalvesState } from "./halves";
export { Overlay } from "./Overlay";
export { HalvesProvider, Seat, SeatSession, type SeatProps, type ToolCardData, useHalves, useHalvesState } from "./Seat";
