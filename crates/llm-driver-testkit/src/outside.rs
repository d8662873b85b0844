//! Servers that others wrote: tests talk to them where somebody started one (`cargo xtask test` does).

/// Where such a server is, from this variable; without one the test says that it is skipped, but not on CI.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the server is named by whoever starts it, and a skipped test must say so"
)]
pub fn outside_server(variable: &str) -> Option<String> {
    let filled = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let url = filled(variable);
    if url.is_none() {
        assert_ne!(
            filled("CI").as_deref(),
            Some("true"),
            "{variable} is not set; run `cargo xtask test`, which starts a server and sets it"
        );
        println!("skipped: {variable} is not set (`cargo xtask test` starts a server and sets it)");
    }
    url
}

/// What any driver must do before the real model server (`LLM_TEST_MODEL_SERVER`, a base URL that ends in `/v1`). Takes
/// a function from the base URL to the driver, whose requests may go without naming a model, and the id of the model.
#[macro_export]
macro_rules! real_server_suite {
    ($driver_at:path, $model:expr) => {
        mod real_server_suite {
            use ::llm_core::{
                CallContext, ChatDriver, ChatDriverExt, ChatEvent, ChatRequest, ErrorKind, FinishKind,
                Grammar, HealthState, ModelCatalog, Phase,
            };

            fn server() -> Option<String> {
                $crate::outside_server("LLM_TEST_MODEL_SERVER")
            }

            fn cx() -> CallContext {
                let cx = CallContext::new(::llm_http::shared_clock());
                cx.with_timeout(::std::time::Duration::from_secs(120))
            }

            fn question() -> ChatRequest {
                ChatRequest::user("Name the capital of France.")
                    .with_max_output_tokens(24)
                    .with_temperature(0.0)
            }

            #[tokio::test]
            async fn a_plain_call_is_answered() {
                let Some(driver) = server().map($driver_at) else {
                    return;
                };
                let response = driver.chat(&cx(), &question()).await.unwrap();
                assert!(response.text().contains("Paris"), "{}", response.text());
                let kind = &response.finish.kind;
                assert!(matches!(kind, FinishKind::Stop | FinishKind::Length));
                let usage = &response.usage;
                assert!(usage.input_tokens.unwrap() > 0 && usage.output_tokens.unwrap() > 0);
                assert_eq!(usage.cost, None, "what it costs is not known");
                assert_eq!(response.meta.requested_model.unwrap().as_str(), $model);
                assert!(response.warnings.is_empty(), "{:?}", response.warnings);
            }

            #[tokio::test]
            async fn a_stream_is_legal_and_folds_to_the_plain_answer() {
                let Some(driver) = server().map($driver_at) else {
                    return;
                };
                let plain = driver.chat(&cx(), &question()).await.unwrap();
                let mut stream = driver.chat_stream(&cx(), &question()).await.unwrap();
                let (mut grammar, mut pieces) = (Grammar::default(), 0);
                while let Some(event) = stream.next_event().await {
                    let event = event.unwrap();
                    grammar.check(&event).unwrap();
                    pieces += usize::from(event.is_content());
                    if let ChatEvent::Finish { usage, .. } = &event {
                        assert_eq!(usage.output_tokens, plain.usage.output_tokens);
                    }
                }
                grammar.end().unwrap();
                assert!(pieces > 2, "{pieces}");
                let folded = driver.chat_collected(&cx(), &question()).await.unwrap();
                assert_eq!((folded.text(), folded.finish), (plain.text(), plain.finish));
            }

            #[tokio::test]
            async fn a_prompt_that_does_not_fit_is_told_as_that() {
                let Some(driver) = server().map($driver_at) else {
                    return;
                };
                let request = ChatRequest::user("one two three four ".repeat(8_000));
                let plain = driver.chat(&cx(), &request).await.unwrap_err();
                let stream = driver.chat_stream(&cx(), &request).await.unwrap_err();
                for error in [plain, stream] {
                    let said = (error.kind(), error.phase());
                    assert_eq!(said, (ErrorKind::ContextLength, Phase::Sent), "{error}");
                    assert_eq!(error.vendor().status, Some(400));
                    assert!(!error.message().contains("three four"), "{error}");
                }
            }

            #[tokio::test]
            async fn a_wrong_path_is_not_found() {
                let Some(base_url) = server() else { return };
                let driver = $driver_at(format!("{base_url}/nowhere"));
                let error = driver.chat(&cx(), &question()).await.unwrap_err();
                let said = (error.kind(), error.vendor().status);
                assert_eq!(said, (ErrorKind::NotFound, Some(404)), "{error}");
                let status = driver.health(&cx()).await;
                assert_eq!(status.state, HealthState::Unhealthy, "{status:?}");
            }

            #[tokio::test]
            async fn the_server_lists_its_model_and_is_well() {
                let Some(driver) = server().map($driver_at) else {
                    return;
                };
                let listed = driver.list(&cx()).await.unwrap();
                assert!(
                    listed.iter().any(|model| model.id.as_str() == $model),
                    "{listed:?}"
                );
                driver.refresh(&cx()).await.unwrap();
                assert!(driver.resolve(None).unwrap().known);
                let status = driver.health(&cx()).await;
                assert_eq!(status.state, HealthState::Healthy, "{status:?}");
            }
        }
    };
}

/// What any driver must do before the scripted upstream (`LLM_TEST_SCRIPTED_UPSTREAM`; its script is
/// `xtask/assets/scripted_upstream.json`). Takes a function from the server's address, without a path, to the driver,
/// whose requests may go without naming a model.
#[macro_export]
macro_rules! scripted_upstream_suite {
    ($driver_at:path) => {
        mod scripted_upstream_suite {
            use ::llm_core::stream::collect;
            use ::llm_core::{
                CallContext, ChatDriver, ChatEvent, ChatRequest, ChatResponse, ErrorKind, FinishKind, Grammar,
                Message, ToolResult, ToolSpec,
            };

            fn server() -> Option<String> {
                $crate::outside_server("LLM_TEST_SCRIPTED_UPSTREAM")
            }

            fn cx() -> CallContext {
                let cx = CallContext::new(::llm_http::shared_clock());
                cx.with_timeout(::std::time::Duration::from_secs(60))
            }

            fn with_tool(text: &str) -> ChatRequest {
                let radius = ::serde_json::json!({
                    "type": "object",
                    "properties": { "radius": { "type": "number" } },
                    "required": ["radius"],
                });
                let tool = ToolSpec::new("area")
                    .with_description("The area of a disc.")
                    .with_parameters(radius);
                ChatRequest::user(text).with_tools([tool])
            }

            /// The plain answer, and the folded stream of the same request.
            async fn both(driver: &impl ChatDriver, request: &ChatRequest) -> [ChatResponse; 2] {
                let plain = driver.chat(&cx(), request).await.unwrap();
                let stream = driver.chat_stream(&cx(), request).await.unwrap();
                [plain, collect(stream).await.unwrap()]
            }

            #[tokio::test]
            async fn a_text_comes_whole_and_as_a_stream() {
                let Some(driver) = server().map($driver_at) else { return };
                for response in both(&driver, &ChatRequest::user("Please greet us.")).await {
                    assert_eq!(response.text(), "Good morning from the script.");
                    assert_eq!(response.finish.kind, FinishKind::Stop);
                }
            }

            #[tokio::test]
            async fn a_tool_is_called_and_its_result_is_taken() {
                let Some(driver) = server().map($driver_at) else { return };
                let request = with_tool("Please measure the disc.");
                for response in both(&driver, &request).await {
                    assert_eq!(response.finish.kind, FinishKind::ToolCalls);
                    let calls: Vec<_> = response.tool_calls().cloned().collect();
                    assert_eq!((calls.len(), calls[0].name.as_str()), (1, "area"));
                    let arguments: ::serde_json::Value = ::serde_json::from_str(&calls[0].arguments).unwrap();
                    assert_eq!(arguments, ::serde_json::json!({ "radius": 2 }));
                    let mut next = request.clone();
                    next.messages.push(response.to_message());
                    let result = ToolResult::new(calls[0].id.clone(), "12.57").with_name("area");
                    next.messages.push(Message::tool_results([result]));
                    let answer = driver.chat(&cx(), &next).await.unwrap();
                    assert_eq!(answer.text(), "It covers about twelve and a half.");
                }
            }

            #[tokio::test]
            async fn two_calls_stay_two() {
                let Some(driver) = server().map($driver_at) else { return };
                for response in both(&driver, &with_tool("Please measure both.")).await {
                    let calls: Vec<_> = response.tool_calls().collect();
                    assert_eq!(calls.len(), 2, "{calls:?}");
                    assert_ne!(calls[0].id, calls[1].id);
                    assert!(calls[0].arguments.contains('1') && calls[1].arguments.contains('3'));
                }
            }

            #[tokio::test]
            async fn failures_are_told_apart() {
                let Some(driver) = server().map($driver_at) else { return };
                for (text, kind, status) in [
                    ("There are too many.", ErrorKind::RateLimit, 429),
                    ("Now fall over.", ErrorKind::Overloaded, 503),
                    ("This is the wrong key.", ErrorKind::Auth, 401),
                ] {
                    let request = ChatRequest::user(text);
                    let plain = driver.chat(&cx(), &request).await.unwrap_err();
                    let stream = driver.chat_stream(&cx(), &request).await.unwrap_err();
                    for error in [plain, stream] {
                        assert_eq!((error.kind(), error.vendor().status), (kind, Some(status)), "{error}");
                        assert_eq!(error.retry_after().is_some(), status == 429, "{error:?}");
                    }
                }
            }

            #[tokio::test]
            async fn a_stream_that_is_cut_is_interrupted() {
                let Some(driver) = server().map($driver_at) else { return };
                let request = ChatRequest::user("Please break off.");
                let mut stream = driver.chat_stream(&cx(), &request).await.unwrap();
                let (mut grammar, mut text, mut error) = (Grammar::default(), String::new(), None);
                while let Some(event) = stream.next_event().await {
                    match event {
                        Ok(event) => {
                            grammar.check(&event).unwrap();
                            assert!(!matches!(event, ChatEvent::Finish { .. }), "an invented finish");
                            if let ChatEvent::BlockDelta { delta: ::llm_core::Delta::Text(piece), .. } = event {
                                text.push_str(&piece);
                            }
                        }
                        Err(failed) => error = Some(failed),
                    }
                }
                assert!(text.starts_with("These words"), "{text}");
                assert_eq!(error.unwrap().kind(), ErrorKind::Interrupted);
            }
        }
    };
}
