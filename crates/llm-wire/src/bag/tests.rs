use super::*;
use serde_json::json;

const OPENAI: VendorId = VendorId::from_static("openai");
const MISTRAL: VendorId = VendorId::from_static("mistral");

fn hi(options: &[(VendorId, &str, Value)]) -> ChatRequest {
    let mut request = ChatRequest::user("hi");
    for (vendor, key, value) in options {
        request.vendor.set(vendor.clone(), *key, value.clone());
    }
    request
}

fn fields(request: &ChatRequest) -> Vec<String> {
    let warnings = of_others(&VendorId::from_static("anthropic"), request);
    warnings.into_iter().map(|warning| warning.field).collect()
}

#[test]
fn options_of_other_vendors_alone_are_named() {
    let request = hi(&[
        (OPENAI, "verbosity", json!("low")),
        (OPENAI, "store", Value::Null),
        (MISTRAL, "body", json!({"safe_prompt": true})),
    ]);
    let warnings = of_others(&VendorId::from_static("anthropic"), &request);
    let told: Vec<_> = warnings
        .iter()
        .map(|warning| (&*warning.field, &*warning.message))
        .collect();
    assert_eq!(
        told,
        [
            (
                "vendor.mistral.body",
                "is not sent: it is an option of mistral, and this goes to anthropic"
            ),
            (
                "vendor.openai.verbosity",
                "is not sent: it is an option of openai, and this goes to anthropic"
            ),
        ]
    );
    assert_eq!(of_others(&OPENAI, &request), []);
    assert_eq!(fields(&hi(&[])), [""; 0]);
}

#[test]
fn who_has_thought_of_this_vendor_is_told_nothing() {
    let own = VendorId::from_static("anthropic");
    let request = hi(&[(OPENAI, "verbosity", json!("low")), (own, "top_k", Value::Null)]);
    assert_eq!(fields(&request), [""; 0]);
}

#[test]
fn many_options_are_counted_and_long_names_are_cut() {
    let mut request = hi(&[(OPENAI, &"k".repeat(1000), json!(1))]);
    assert_eq!(fields(&request), [format!("vendor.openai.{}", "k".repeat(64))]);
    for key in 0..100 {
        request.vendor.set(OPENAI, format!("a{key}"), json!(1));
    }
    let warnings = of_others(&MISTRAL, &request);
    assert_eq!(warnings.len(), 17);
    assert_eq!(
        warnings[16].message,
        "holds 85 more options of other vendors, which are not sent to mistral"
    );
}
