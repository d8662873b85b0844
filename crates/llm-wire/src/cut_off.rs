//! Which ends cut an answer off.

use llm_core::FinishKind;

/// May something be missing behind the last piece of an answer that ended like this? Then a call whose arguments never
/// came is cut off; elsewhere it is one without arguments.
pub(crate) fn is_cut_off(kind: FinishKind) -> bool {
    matches!(
        kind,
        FinishKind::Length | FinishKind::ContentFilter | FinishKind::Refusal | FinishKind::ModelFault
    )
}
